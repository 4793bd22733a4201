package verb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"orchestrator/agent/demo"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/verb/page"
)

// TestEveryVerbIsClean gives every verb of the tree, also one that is added tomorrow, hostile words.
func TestEveryVerbIsClean(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("threads")
	var walk func(cmd *cobra.Command, path []string)
	walk = func(cmd *cobra.Command, path []string) {
		for _, sub := range cmd.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
		if len(path) == 0 || path[0] == demo.Verb {
			return // they draw
		}
		for _, more := range [][]string{{"--help"}, {"--" + e2e.Hostile}, {e2e.Hostile}, {e2e.Hostile, e2e.Hostile}} {
			if !slices.Contains([]string{"new", "run"}, path[0]) || len(more) == 1 && more[0] != e2e.Hostile { // those would start an agent
				out := r.Record(append(slices.Clone(path), more...)...)
				if bad := e2e.Harms(out); bad != "" {
					t.Errorf("orchestrator %q %q prints %s:\n%q", path, more, bad, out)
				}
			}
		}
	}
	walk((&cli{}).command(), nil)
}

// TestPanicsAreCleaned: what a panic says is printed as all else, without the bytes of its cause.
func TestPanicsAreCleaned(t *testing.T) {
	var out bytes.Buffer
	o := newOutput(&out, &out)
	err := guard(func() (*cobra.Command, error) { panic(e2e.Hostile) })
	fmt.Fprintf(o.stderr, "orchestrator: %v\n", err)
	o.close()
	if bad := e2e.Harms(out.Bytes()); bad != "" || !strings.Contains(out.String(), "this is a bug") {
		t.Errorf("a panic printed %s: %q", bad, out.String())
	}
}

// TestJSONStaysEqual: what --json prints of hostile text is that text.
func TestJSONStaysEqual(t *testing.T) {
	var out bytes.Buffer
	c := &cli{out: newOutput(&out, &out)}
	c.out.json = true
	if err := c.out.show(e2e.Hostile, nil); err != nil {
		t.Fatal(err)
	}
	c.out.close()
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != e2e.Hostile || e2e.Harms(out.Bytes()) != "" {
		t.Errorf("%q, %v, %s", back, err, e2e.Harms(out.Bytes()))
	}
}

func TestAboutOf(t *testing.T) {
	for _, c := range [][3]string{{"list files\nnow", "", "list files"}, {"", "before a rewind", "before a rewind"}, {"list files", "the turn ended here", "list files; the turn ended here"}, {"", "", ""}} {
		if got := page.About(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q: %q", c[0], c[1], got)
		}
	}
}
