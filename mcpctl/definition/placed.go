package definition

import (
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread/frozen"
)

// Plan is how a server is started so that what it loads from the repository is what was accepted: from a copy.
type Plan struct {
	// Entries are what is copied.
	Entries []frozen.Entry

	plan plan
}

// Planned returns the launch hash of a definition, and how exactly what it stands for is started.
func (d Definition) Planned(files FileHasher) (hash string, p Plan, err error) {
	made, err := files.plan(d)
	if err == nil {
		hash, err = d.hash(files, made)
	}
	return hash, Plan{Entries: made.entries, plan: made}, err
}

// Copied reports whether the server needs a copy, which may be an empty folder.
func (p Plan) Copied() bool {
	return len(p.Entries) > 0 || p.plan.inside || p.plan.manner == packages
}

// Definition returns a definition with the variables of its environment file, and the contents of other files that it
// names, as they were read for the plan.
func (p Plan) Definition(d Definition) Definition {
	d.environ, d.contents = p.plan.env, p.plan.contents
	return d
}

// In returns a launch that runs what is in a copy. The folder in which it is started stays, unless what it loads depends on
// that: then it is the one in the copy that has its place.
func (p Plan) In(l Launch, top string) Launch {
	if p.plan.manner == packages {
		l.Args = append([]string{"--prefix=" + top}, l.Args...)
		l.Env = withDefaults(l.Env)
		return p.command(l, top)
	}
	args := make([]string, 0, len(l.Args)+1)
	for i, a := range l.Args {
		if path, ok := p.plan.data[i]; ok {
			args = append(args, path)
			continue
		}
		args = append(args, p.replaced(a, top))
	}
	l.Args = args
	l.Helper = p.replaced(l.Helper, top)
	env := make([]string, 0, len(l.Env)+3)
	for _, kv := range l.Env {
		name, value, _ := strings.Cut(kv, "=")
		env = append(env, name+"="+p.replaced(value, top))
	}
	if p.plan.inside {
		l.Dir = frozen.Path(top, p.plan.start)
		if len(p.Entries) > 0 {
			env = append(env, "CLAUDE_PROJECT_DIR="+top)
		}
	}
	l.Env = withDefaults(env)
	return p.command(l, top)
}

// Base returns the variables that every server gets, of which PATH finds programs of the project in the copy, if there
// is one.
func (p Plan) Base(env []string, top string) []string {
	if top == "" {
		return env
	}
	out := make([]string, 0, len(env))
	for _, kv := range env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			folders := filepath.SplitList(list)
			for i, folder := range folders {
				if rel, ok := p.plan.path[folder]; ok {
					folders[i] = frozen.Path(top, rel)
				}
			}
			kv = "PATH=" + strings.Join(folders, string(filepath.ListSeparator))
		}
		out = append(out, kv)
	}
	return out
}

// command returns a launch of the program that was found when the plan was made, whatever is there to find by now.
func (p Plan) command(l Launch, top string) Launch {
	switch {
	case p.plan.command != "" && p.plan.by != "":
		l.Command, l.Args = frozen.Path(top, p.plan.by), append([]string{frozen.Path(top, p.plan.command)}, l.Args...)
	case p.plan.command != "":
		l.Command = frozen.Path(top, p.plan.command)
	case p.plan.program != "":
		l.Command = p.plan.program
	}
	return l
}

// withDefaults adds variables that keep interpreters from writing into a copy.
func withDefaults(env []string) []string {
	for _, kv := range []string{"PYTHONDONTWRITEBYTECODE=1", "UV_NO_SYNC=1"} {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(env, func(have string) bool { return strings.HasPrefix(have, name+"=") }) {
			env = append(env, kv)
		}
	}
	return env
}

// replaced returns a text in which words that name what is copied lead to the copy.
func (p Plan) replaced(text, top string) string {
	if rel, ok := p.plan.leads[text]; ok {
		return frozen.Path(top, rel)
	}
	var out strings.Builder
	for len(text) > 0 {
		end := strings.IndexFunc(text, separates)
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		if rel, ok := p.plan.leads[word]; ok {
			word = frozen.Path(top, rel)
		}
		out.WriteString(word)
		if end < len(text) {
			out.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	return out.String()
}
