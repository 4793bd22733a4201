package setup

import (
	"fmt"
	"path/filepath"

	"orchestrator/thread"
)

// accepted copies the files of a folder that commands name, once it is certain that the person has accepted the commands
// and exactly these files, and returns the folder with the copies and their names.
func (s *Setup) accepted(l lines, dir string) (copied string, names []string, err error) {
	if copied, names, err = s.copyNamed(l, dir); err != nil {
		return "", nil, err
	}
	place, content, err := l.content(copied, dir)
	if err != nil {
		return "", nil, err
	}
	if s.cfg.Accepted == nil || !s.cfg.Accepted(Place(s.cfg.Project, place), content) {
		return "", nil, thread.Hint(thread.Kindf(thread.ErrRefused, "the %s, or files that they name, have not been accepted as they are now", l.what),
			fmt.Sprintf("review them in %s, then accept them with `orchestrator --project %s trust`", dir, dir))
	}
	return copied, names, nil
}

// Place is where a project's content is remembered as accepted.
func Place(project, name string) string {
	return filepath.Join(project, ".orchestrator.toml") + "#" + name
}
