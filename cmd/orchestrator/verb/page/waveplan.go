package page

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/plain"
)

// mostNames is how many names of a wave or a chain are printed.
const mostNames = 12

// CheckedPlan prints what there is to say of a plan before it runs.
func CheckedPlan(w io.Writer, v wave.Checked) {
	fmt.Fprintf(w, "%s  %s  %s\n", plain.Line(v.Plan), plaintext.Count(v.Agents, "agent"), cmp.Or(plaintext.Cut(v.Hash, 12), "-"))
	if len(v.Waves) > 0 {
		var t Columns
		t.Row("WAVE", "AGENTS")
		for i, names := range v.Waves {
			if i == mostNames {
				t.Row("", fmt.Sprintf("and %d waves more", len(v.Waves)-i))
				break
			}
			t.Row(fmt.Sprint(i+1), few(names, ", "))
		}
		t.Print(w)
	}
	if len(v.Critical) > 1 {
		fmt.Fprintf(w, "longest chain: %s\n", few(v.Critical, " > "))
	}
	for _, f := range v.Findings {
		text := f.Text
		if f.Agent != "" {
			text = f.Agent + ": " + text
		}
		level := string(f.Level)
		if f.Level == plan.Ask {
			level = "asks you"
		}
		fmt.Fprintf(w, "%s: %s\n", level, plain.Line(thread.Sentences(text, f.Do)))
	}
	switch {
	case v.Wrong():
	case v.Asks():
		fmt.Fprintln(w, "it can run once you agree, with --yes")
	default:
		fmt.Fprintln(w, "it can run")
	}
}

func few(names []string, between string) string {
	if len(names) > mostNames {
		names = append(append([]string{}, names[:mostNames]...), fmt.Sprintf("and %d more", len(names)-mostNames))
	}
	return plain.Line(strings.Join(names, between))
}
