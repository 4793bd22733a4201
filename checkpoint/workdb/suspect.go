package workdb

import (
	"fmt"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/private"
)

// suspectEnd is the suffix of the file that says that damage was found: the next start sets the database aside.
const suspectEnd = "-suspect"

// suspect has the next start set the database aside.
func suspect(dir *private.Folder, path string, cause error) {
	_ = dir.Write(filepath.Base(path)+suspectEnd, []byte(strings.TrimPrefix(cause.Error(), sqlfile.ErrCheck.Error()+": "))) // else it is found again
}

// suspected returns what damage was found before, nil if none was.
func suspected(dir *private.Folder, path string) error {
	text, err := dir.Read(filepath.Base(path)+suspectEnd, 1<<16)
	if err != nil || !sqlfile.Exists(path) {
		return nil
	}
	return fmt.Errorf("%w: %s", sqlfile.ErrCheck, plaintext.Cut(strings.Join(strings.Fields(string(text)), " "), 200))
}
