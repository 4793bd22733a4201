package masks

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// outputsName is the name of the folder with the copies that the agent may read.
const outputsName = "outputs"

// fileName is the name of the copy of a content.
func fileName(t thread.Token) string { return t.Digits() + ".txt" }

// sized reports whether the copy of a content has its size.
func sized(outputs *private.Folder, m Mask) bool {
	file, err := outputs.File(filepath.Base(m.File), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	return err == nil && info.Size() == m.Bytes
}

// same reports whether the copy of a content is the content.
func same(outputs *private.Folder, m Mask) bool {
	b, err := outputs.Read(filepath.Base(m.File), m.Bytes+1)
	return err == nil && sumOf(b) == m.Sum
}

// output writes a copy, which appears whole. It is not synced: the log has the content.
func output(outputs *private.Folder, name string, content []byte) error {
	temp := ".new-" + rand.Text()
	file, err := outputs.File(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(0o400)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = outputs.Replace(temp, name)
	}
	if err != nil {
		if rerr := outputs.Remove(temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return fmt.Errorf("write a masked content: %w", err)
	}
	return nil
}
