package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestVerbsNameWhatAgentsObey: whoever works with verbs alone is told too, once, and nothing where nothing changed.
func TestVerbsNameWhatAgentsObey(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("one")
	r.turn(name, "write notes.txt: one")
	for i, args := range [][]string{
		{"new", "-a", "demo", "two"}, {"run", "-a", "demo", "hello"}, {"fork", "three", "-t", name, "--no-worktree"}, {"resume", name}, {"restart"},
	} {
		for _, changed := range []bool{true, false} {
			if changed {
				r.write("CLAUDE.md", fmt.Sprintf("Obey %d.\n", i))
			}
			if args[0] == "resume" {
				r.ok("stop", name)
			}
			res := r.run(args...)
			said := strings.Count(res.stderr, "agent configuration files changed: CLAUDE.md")
			if res.code != 0 || changed && said != 1 || !changed && said != 0 {
				t.Errorf("%v, changed %v: exit %d, told %d times:\n%s", args, changed, res.code, said, res.stderr)
			}
		}
	}
}
