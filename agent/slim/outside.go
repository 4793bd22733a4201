package slim

import (
	"path/filepath"
	"strings"

	"orchestrator/agent/world"
	"orchestrator/thread"
)

// Everywhere hears every file of settings.
func Everywhere(string) bool { return true }

// Outside returns which files of settings an agent at work in a folder cannot be expected to write: those that are not in
// the folder, in its repository, in the repository's main working tree or in the folder that it is a copy of, also not by
// a link. What such a file says of the agent's tools is the person's own word.
func Outside(spec thread.WorldSpec) func(path string) bool {
	root, main := world.Repository(spec.Dir)
	var inside []string
	for _, folder := range []string{spec.Dir, root, main, spec.Origin} {
		if folder != "" {
			inside = append(inside, filepath.Clean(folder), real(folder))
		}
	}
	return func(path string) bool {
		for _, folder := range inside {
			for _, file := range []string{path, real(path)} {
				if rel, err := filepath.Rel(folder, file); err == nil && (rel == "." || filepath.IsLocal(rel)) {
					return false
				}
			}
		}
		return true
	}
}

// real resolves the links of a path as far as there is something.
func real(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return strings.TrimSuffix(filepath.Join(found, rest), string(filepath.Separator))
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
