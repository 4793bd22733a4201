package discovery

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread/private"
)

const (
	// maxFile is the size limit of the person's own configuration files; Claude's own grows with its history.
	maxFile = 64 << 20
	// maxProjectFile is that of files of the repository.
	maxProjectFile = 1 << 20
)

// The agents whose files are read.
const (
	ours          = "orchestrator"
	claude        = "claude"
	codex         = "codex"
	gemini        = "gemini"
	openCodeAgent = "opencode"
	cursor        = "cursor"
	vsCode        = "vscode"
)

// file is one that may configure servers.
type file struct {
	path  string
	at    string // where it is: for one of the person's own without the links on the way
	own   bool   // it stands where the person's own files are
	agent string
	scope definition.Scope
}

// content reads a file: a regular one, and one of the repository only if it is no link there.
func (f file) content() ([]byte, error) {
	if f.scope == definition.Project {
		limit := int64(maxProjectFile)
		if f.own {
			limit = maxFile
		}
		content, err := private.ReadRegular(f.at, limit)
		var about *private.Error
		if errors.As(err, &about) {
			err = about.Err // the path is known
		}
		return content, err
	}
	opened, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, private.ErrNotRegular
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, private.ErrNotRegular
	}
	content, err := io.ReadAll(io.LimitReader(opened, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("%w: more than %d bytes", private.ErrTooLarge, maxFile)
	}
	return content, err
}
