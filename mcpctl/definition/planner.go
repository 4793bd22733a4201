package definition

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread/frozen"
)

// plan is how a server is started from a copy of what it loads from the repository. All of it is decided when it is made:
// nothing is looked at again when the server is started.
type plan struct {
	manner   manner
	dir      string            // where it would be started
	start    string            // its path in the copy
	inside   bool              // it is started in the copy, at start
	folders  []string          // that it names and that are not copied
	entries  []frozen.Entry    // what is copied
	out      []string          // links that lead out
	program  string            // what a bare command is found to be
	command  string            // the program's path in the copy, if it is copied
	by       string            // the path in the copy of the interpreter that the program names, if it is copied
	leads    map[string]string // words that name what is copied, to its path in the copy
	env      *variables        // of its environment file
	contents contents          // of the files that its texts name
	path     map[string]string // folders of the person's PATH that are in the project, to their paths in the copy
	data     map[int]string    // arguments that name folders of the thread, which are not run, to their absolute paths
}

// planner makes a plan.
type planner struct {
	FileHasher
	d         Definition
	plan      plan
	collect   *frozen.Collector
	base      string // the root that holds dir, without links
	variables map[string]string
	scanned   map[string]bool
	words     map[string]bool // files, and folders that are copied, that words name, by their absolute paths
	runs      [2]string       // a script of the project and its interpreter, which is in the project too
	module    bool            // Python runs a module
	err       error
}

func (p *planner) fail(err error) {
	if p.err == nil && err != nil {
		p.err = fmt.Errorf("read what the command line names: %w", err)
	}
}

// absolute returns where a word leads.
func (p *planner) absolute(word string) string {
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		home, _ := p.lookup("HOME")
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(word) {
		return filepath.Clean(word)
	}
	path := filepath.Join(p.plan.dir, word)
	if folder, file := exists(path); folder || file || len(p.Roots) < 2 {
		return path
	}
	at, ok := p.locate(path)
	if !ok {
		return path
	}
	for _, root := range p.Roots { // what is installed may be installed in the project only
		if _, installed := dependencies(root, at.rel); installed {
			if _, file := exists(filepath.Join(root, at.rel)); file {
				return filepath.Join(root, at.rel)
			}
		}
	}
	return path
}

// environ returns the variables that are declared: by their file, by their names, and with their values.
func (p *planner) environ() map[string]string {
	set := make(map[string]string)
	if p.plan.env != nil {
		maps.Copy(set, p.plan.env.set)
	}
	for _, name := range p.d.EnvVars {
		if value, ok := p.lookup(name); ok {
			set[name] = value
		}
	}
	for name, value := range p.d.Env {
		set[name] = p.expanded(p.d, value)
	}
	return set
}

// settle decides which words lead to the copy.
func (p *planner) settle(command string, args []string, texts []string) {
	if at, ok := p.locate(p.plan.dir); ok {
		p.plan.start = filepath.ToSlash(at.rel)
	}
	program := p.plan.program
	if strings.Contains(command, "/") {
		program = p.absolute(command)
	}
	if rel, ok := p.copied(program); ok {
		p.plan.command = rel
		if at, ok := p.locate(program); ok && p.runs[0] == filepath.Join(at.root, at.rel) {
			p.plan.by, _ = p.copied(p.runs[1])
		}
	}
	if m := slices.Index(args, "-m"); p.module && m >= 0 && p.plan.inside {
		for i := max(m+2, 1); i < len(args); i++ {
			if path := p.absolute(args[i]); p.folder(path) {
				p.plan.data[i] = path
			}
		}
	}
	path, _ := p.lookup("PATH")
	for _, folder := range filepath.SplitList(path) {
		if at, ok := p.locate(folder); ok {
			p.plan.path[folder] = filepath.ToSlash(at.rel)
		}
	}
	for _, text := range texts {
		for _, word := range wordsOf(text) {
			if rel, ok := p.lead(word); ok {
				p.plan.leads[word] = rel
			}
		}
	}
}

func (p *planner) folder(path string) bool {
	folder, _ := exists(path)
	return folder
}

// lead returns the path in the copy of what a word names.
func (p *planner) lead(word string) (string, bool) {
	if word == "" || word == "." || word == "./" || p.plan.inside && !filepath.IsAbs(word) && !strings.HasPrefix(word, "~/") {
		return "", false
	}
	return p.copied(p.absolute(word))
}

// copied returns where a path of the project is in the copy.
func (p *planner) copied(path string) (string, bool) {
	if path == "" {
		return "", false
	}
	at, ok := p.locate(path)
	if !ok {
		return "", false
	}
	rel := filepath.ToSlash(at.rel)
	switch {
	case p.plan.inside:
		return rel, true
	case p.collect.Has(rel) && !p.collect.IsFolder(rel):
		return rel, true
	}
	return rel, p.words[path] && p.collect.Holds(rel)
}
