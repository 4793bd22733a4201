package page

import (
	"cmp"
	"fmt"
	"io"

	"orchestrator/thread/wave"
	"orchestrator/ui/plain"
)

// Compared prints one result beside another.
func Compared(w io.Writer, c wave.Compared) {
	fmt.Fprintf(w, "%s/%s\n", c.Task, c.Agent)
	var t Columns
	t.Row("", "VERSION", "EXECUTION", "AGENT", "MODEL", "TOKENS", "COST", "TOOK")
	for _, side := range []struct {
		name string
		r    wave.Result
	}{{"-", c.Is}, {"+", c.Other}} {
		version := "-"
		if side.r.Version > 0 {
			version = fmt.Sprint(side.r.Version)
		}
		t.Row(side.name, version, cmp.Or(side.r.Execution, "a person"), cmp.Or(side.r.Program, "-"), cmp.Or(plain.Line(side.r.Model), "-"),
			fmt.Sprint(side.r.Usage.Context()), side.r.Usage.Money(), tookFor(side.r.Took))
	}
	t.Print(w)
	for _, r := range []wave.Result{c.Is, c.Other} {
		if r.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", cmp.Or(r.Execution, "-"), plain.Line(r.Error))
		}
	}
	if c.Is.Error == "" && c.Other.Error == "" {
		fmt.Fprintln(w)
		if len(c.Diff) == 0 {
			fmt.Fprintln(w, "the same")
		}
		for _, line := range c.Diff {
			fmt.Fprintln(w, plain.Line(line))
		}
	}
	if c.Taken > 0 {
		fmt.Fprintf(w, "\nhanded over as version %d\n", c.Taken)
	}
}
