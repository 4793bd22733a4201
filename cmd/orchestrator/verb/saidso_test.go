package verb

import (
	"bytes"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
)

// TestHelpOnNothing: help on what there is not fails, and says where to look; and the help speaks of the program by the
// name that it was called by.
func TestHelpOnNothing(t *testing.T) {
	help := func(called string, args ...string) (string, error) {
		var out, errs bytes.Buffer
		c := &cli{out: newOutput(&out, &errs), called: called}
		root := c.command()
		root.SetArgs(args)
		root.SetOut(c.out.stdout)
		root.SetErr(c.out.stderr)
		err := root.Execute()
		return out.String() + errs.String(), err
	}
	for _, args := range [][]string{{"help", "nope"}, {"help", "stage", "nope"}, {"help", "help", "me"}, {"help", "trouble", "x"}} {
		out, err := help("/bin/orchestrator", args...)
		if err == nil || exitCode(err) != exitcode.Usage || !strings.Contains(err.Error(), "`orchestrator help` lists") || out != "" {
			t.Errorf("%q: %v, %q", args, err, out)
		}
	}
	for _, args := range [][]string{{"help"}, {"help", "stage"}, {"help", "stage", "list"}, {"help", "trouble"}, {"--help"}, {"stage", "--help"}} {
		out, err := help("/bin/orchestrator", args...)
		if err != nil || len(out) < 100 {
			t.Errorf("%q: %v, %q", args, err, out)
		}
	}
	out, err := help("/somewhere/max", "stage", "--help")
	if err != nil || !strings.Contains(out, "max stage [flags]") || strings.Contains(out, "orchestrator stage [flags]") {
		t.Errorf("as max: %v, %q", err, out)
	}
}
