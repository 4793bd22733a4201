package definition

import (
	"fmt"
	"path/filepath"
	"strings"

	"orchestrator/thread/frozen"
)

// plan is how a server is started from a copy of what it loads from the repository.
type plan struct {
	manner  manner
	dir     string          // where it would be started
	inside  bool            // it is started in the copy, in the folder that has the place of dir
	folders []string        // that it names and that are not copied
	entries []frozen.Entry  // what is copied
	out     []string        // links that lead out
	program string          // a bare command that PATH finds in the project: its path
	runs    [2]string       // the interpreter of a script of the project, in the project, and its path there
	words   map[string]bool // files, and folders that are copied, that words name, by their absolute paths
	module  bool            // Python runs a module
}

// planner makes a plan.
type planner struct {
	FileHasher
	d       Definition
	plan    plan
	collect *frozen.Collector
	base    string // the root that holds dir, without links
	scanned map[string]bool
	err     error
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
