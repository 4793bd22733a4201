package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	ground "orchestrator/thread/ground/process"
)

// ErrNoProgram is why a command cannot be started at all.
var ErrNoProgram = errors.New("no such program")

// Find returns the absolute path of a command: by the PATH of an environment if it is a bare name, else from dir. It
// never finds a bare name in dir.
func Find(command, dir string, env []string) (string, error) {
	if strings.ContainsRune(command, '/') {
		if !filepath.IsAbs(command) {
			command = filepath.Join(dir, command)
		}
		if !ground.Executable(command) {
			return "", fmt.Errorf("%s: %w", command, ErrNoProgram)
		}
		return command, nil
	}
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, folder := range filepath.SplitList(path) {
		if at := filepath.Join(folder, command); command != "" && filepath.IsAbs(folder) && ground.Executable(at) {
			return at, nil
		}
	}
	return "", fmt.Errorf("%q: %w in PATH", command, ErrNoProgram)
}
