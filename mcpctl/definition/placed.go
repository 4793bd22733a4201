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

	files FileHasher
	plan  plan
}

// Planned returns the launch hash of a definition, and how exactly what it stands for is started.
func (d Definition) Planned(files FileHasher) (hash string, p Plan, err error) {
	made, err := files.plan(d)
	if err == nil {
		hash, err = d.hash(files, made)
	}
	return hash, Plan{Entries: made.entries, files: files, plan: made}, err
}

// Copied reports whether the server needs a copy, which may be an empty folder.
func (p Plan) Copied() bool {
	return len(p.Entries) > 0 || p.plan.inside || p.plan.manner == packages
}

// Definition returns a definition that reads its environment file from the copy.
func (p Plan) Definition(d Definition, top string) Definition {
	if d.EnvFile == "" {
		return d
	}
	if to, ok := p.copyOf(p.files.expanded(d, d.EnvFile), top); ok {
		d.EnvFile = to
	}
	return d
}

// In returns a launch that runs what is in a copy. The folder in which it is started stays, unless what it loads depends on
// that: then it is the one in the copy that has its place.
func (p Plan) In(l Launch, top string) Launch {
	if p.plan.manner == packages {
		l.Args = append([]string{"--prefix=" + top}, l.Args...)
		l.Env = withDefaults(l.Env)
		return l
	}
	replace := func(text string) string { return p.replaced(text, top) }
	args := make([]string, 0, len(l.Args)+1)
	for i, a := range l.Args {
		if p.plan.inside && i > 0 && p.isData(l.Args, i) {
			args = append(args, p.absolute(a))
			continue
		}
		args = append(args, replace(a))
	}
	l.Args = args
	l.Helper = replace(l.Helper)
	program := p.plan.program
	if strings.Contains(l.Command, "/") {
		program = p.absolute(l.Command)
	}
	if to, ok := p.copyOf(program, top); ok {
		l.Command = to
		if at, located := p.files.locate(program); located && p.plan.runs[0] == filepath.Join(at.root, at.rel) {
			if by, ok := p.copyOf(p.plan.runs[1], top); ok {
				l.Command, l.Args = by, append([]string{to}, l.Args...)
			}
		}
	}
	env := make([]string, 0, len(l.Env)+3)
	for _, kv := range l.Env {
		name, value, _ := strings.Cut(kv, "=")
		env = append(env, name+"="+replace(value))
	}
	if p.plan.inside {
		l.Dir = top
		if at, ok := p.files.locate(p.plan.dir); ok {
			l.Dir = filepath.Join(top, at.rel)
		}
		if len(p.Entries) > 0 {
			env = append(env, "CLAUDE_PROJECT_DIR="+top)
		}
	}
	l.Env = withDefaults(env)
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

// isData reports whether an argument is for a Python module, and names a folder of the project: that stays the thread's own.
func (p Plan) isData(args []string, i int) bool {
	m := slices.Index(args, "-m")
	if m < 0 || i < m+2 || !p.plan.module {
		return false
	}
	folder, _ := exists(p.absolute(args[i]))
	return folder
}

func (p Plan) absolute(word string) string {
	return (&planner{FileHasher: p.files, plan: p.plan}).absolute(word)
}

// copyOf returns where a path of the project is in the copy.
func (p Plan) copyOf(path, top string) (string, bool) {
	if path == "" {
		return "", false
	}
	at, ok := p.files.locate(path)
	if !ok {
		return "", false
	}
	to := filepath.Join(top, at.rel)
	if p.plan.inside {
		return to, true
	}
	rel := filepath.ToSlash(at.rel)
	_, found := slices.BinarySearchFunc(p.Entries, rel, func(e frozen.Entry, rel string) int { return strings.Compare(e.Path, rel) })
	if !found {
		found = slices.ContainsFunc(p.Entries, func(e frozen.Entry) bool { return strings.HasPrefix(e.Path, rel+"/") })
		folder, _ := exists(path)
		found = found && (!folder || p.plan.words[path])
	}
	return to, found
}

// replaced returns a text in which paths of the project lead to the copy: relative ones too, unless it is started there.
func (p Plan) replaced(text, top string) string {
	if to, ok := p.wordOf(text, top); ok {
		return to
	}
	var out strings.Builder
	for len(text) > 0 {
		end := strings.IndexFunc(text, separates)
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		if to, ok := p.wordOf(word, top); ok {
			word = to
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

func (p Plan) wordOf(word, top string) (string, bool) {
	if word == "" || word == "." || word == "./" || p.plan.inside && !filepath.IsAbs(word) && !strings.HasPrefix(word, "~/") {
		return "", false
	}
	path := p.absolute(word)
	if folder, _ := exists(path); folder && !p.plan.inside && !p.plan.words[path] {
		return "", false
	}
	return p.copyOf(path, top)
}
