package setup

import (
	"orchestrator/thread/accept"
	"orchestrator/thread/work"
)

// Commands are a project's shell commands, "" for none.
type Commands struct{ Setup, Teardown string }

// Content returns what the person accepts, and its name: both commands, and the files of a folder that they name. It is
// empty if there is no command.
func (c Commands) Content(dir string) (place string, content []byte, err error) {
	return c.all().content(dir, dir)
}

// Missing returns the files of a folder that the commands name and that are not there, which are not accepted.
func (c Commands) Missing(dir string) []string { return c.all().missing(dir) }

func (c Commands) all() lines {
	return linesOf("commands", accept.Command{Name: "setup", Line: c.Setup}, accept.Command{Name: "teardown", Line: c.Teardown})
}

// Checks are a project's shell commands that check what was made, by the name of the check.
type Checks map[string]string

// Content returns what the person accepts, and its name: all checks, and the files of a folder that they name. It is empty
// if there is no check.
func (c Checks) Content(dir string) (place string, content []byte, err error) {
	return c.all().content(dir, dir)
}

// Missing returns the files of a folder that the checks name and that are not there, which are not accepted.
func (c Checks) Missing(dir string) []string { return c.all().missing(dir) }

func (c Checks) all() lines {
	var all []accept.Command
	for _, name := range work.CheckNames() {
		all = append(all, accept.Command{Name: "check " + name, Line: c[name]})
	}
	return linesOf("checks", all...)
}

// lines are commands that are accepted together.
type lines struct {
	what string
	list []accept.Command
}

// linesOf returns those of some commands that there are.
func linesOf(what string, all ...accept.Command) lines {
	l := lines{what: what}
	for _, one := range all {
		if one.Line != "" {
			l.list = append(l.list, one)
		}
	}
	return l
}

// content is what is accepted, with the files of another folder that has the same layout.
func (l lines) content(files, dir string) (place string, content []byte, err error) {
	if len(l.list) == 0 {
		return "", nil, nil
	}
	content, err = accept.Content(l.list, accept.Folder(files), dir)
	return l.what + "#" + accept.Short(content), content, err
}

func (l lines) missing(dir string) []string {
	return accept.Missing(l.list, accept.Folder(dir), dir)
}
