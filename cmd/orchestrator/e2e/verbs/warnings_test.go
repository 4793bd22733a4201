package verbs

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestVerbsNameWhatAgentsObey: whoever works with verbs alone is told too, once, and nothing where nothing changed.
func TestVerbsNameWhatAgentsObey(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("one")
	r.Turn(name, "write notes.txt: one")
	for i, args := range [][]string{
		{"new", "-a", "demo", "two"}, {"run", "-a", "demo", "hello"}, {"fork", "three", "-t", name, "--no-worktree"}, {"resume", name}, {"restart"},
	} {
		for _, changed := range []bool{true, false} {
			if changed {
				r.Write("CLAUDE.md", fmt.Sprintf("Obey %d.\n", i))
			}
			if args[0] == "resume" {
				r.Ok("stop", name)
			}
			res := r.Run(args...)
			said := strings.Count(res.Stderr, "agent configuration files changed: CLAUDE.md")
			if res.Code != 0 || changed && said != 1 || !changed && said != 0 {
				t.Errorf("%v, changed %v: exit %d, told %d times:\n%s", args, changed, res.Code, said, res.Stderr)
			}
		}
	}
}
