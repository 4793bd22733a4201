package verb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// standing is where the person is who starts a verb: what they name without a full path is relative to that.
type standing struct {
	here string // the folder that the program was started in
	root string // the project's
	// folder is the one in the project that agents start in, where nothing else is said.
	folder string
	// apart is set where the person is in another worktree of the project, so that folder is not where they are.
	apart bool
}

// standing finds out where the person is.
func (c *cli) standing() (standing, error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return standing{}, fmt.Errorf("find the current folder: %w", err)
	}
	at, err := filepath.Abs(c.dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return standing{}, fmt.Errorf("find the current folder: %w", err)
	}
	s := standing{here: here, root: c.project.Root, folder: at}
	if !git.Within(at, c.project.Root) {
		s.folder, s.apart = c.project.Root, true
	}
	return s, nil
}

// here is the folder of the project whose MCP servers a verb is about where no thread is named; empty for the project's.
func (c *cli) here() string {
	s, err := c.standing()
	if err != nil {
		return ""
	}
	return s.folder
}

// place makes the folder of a request an absolute one.
func (s standing) place(r *thread.NewRequest) {
	switch {
	case r.Dir == "":
		r.Dir = s.folder
	case !filepath.IsAbs(r.Dir):
		r.Dir = filepath.Join(s.here, r.Dir)
	}
	r.Flags.Program = s.program(r.Flags.Program, r.Dir)
}

// program has a program that is named by a relative path mean the same from the folder that it starts in. In the project
// it stays relative, so that it is found again when the project moves, and a fork has its own.
func (s standing) program(argv []string, dir string) []string {
	if len(argv) == 0 || filepath.IsAbs(argv[0]) || !strings.ContainsRune(argv[0], filepath.Separator) {
		return argv
	}
	path := filepath.Join(s.here, argv[0])
	if dir, err := filepath.EvalSymlinks(dir); err == nil && git.Within(dir, s.root) && git.Within(path, s.root) {
		if rel, err := filepath.Rel(dir, path); err == nil {
			path = rel
			if !strings.ContainsRune(rel, filepath.Separator) {
				path = "." + string(filepath.Separator) + rel // and not one on the PATH
			}
		}
	}
	return append([]string{path}, argv[1:]...)
}

// says tells in which folder a new thread works where that may not be what the person expects.
func (s standing) says(c *cli, t thread.Status) {
	switch {
	case c.out.json, t.Worktree.Path != "":
	case s.apart:
		fmt.Fprintf(c.out.stderr, "it works in %s: you are in another worktree of the project; --dir . works here\n", t.Dir)
	case t.Dir != c.project.Root:
		fmt.Fprintf(c.out.stderr, "it works in %s, where you are; --dir %s works in the whole project\n", t.Dir, shortest(s.here, c.project.Root))
	}
}

// mostNamed is how many variables are named of an environment.
const mostNamed = 5

// environSaid says that a thread's agent was started with another environment than the server's; "" if it was not.
func environSaid(s thread.Status) string {
	if s.Environ == nil {
		return ""
	}
	return "it and its MCP servers have the environment of the shell that it was started from; the server, and MCP servers " +
		"that threads share, have another " + variables(s.Environ.Differs) + ", until `orchestrator restart`"
}

// variables names some of many variables.
func variables(names []string) string {
	more := ""
	if n := len(names) - mostNamed; n > 0 {
		names, more = names[:mostNamed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more
}

// shortest is a path as seen from a folder, where that is shorter.
func shortest(from, path string) string {
	if rel, err := filepath.Rel(from, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}
