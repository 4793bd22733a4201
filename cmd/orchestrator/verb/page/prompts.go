package page

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"orchestrator/thread"
)

// Prompts prints a table of prompts.
func Prompts(w io.Writer, list []thread.Prompt, names map[thread.ID]string) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no prompts")
		return
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	defer t.Flush()
	for _, p := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.ID, p.Accepted.Local().Format(time.DateTime), names[p.Thread],
			PromptState(p), FirstLine(p.Text))
	}
}

// PromptState describes the state of a prompt.
func PromptState(p thread.Prompt) string {
	s := string(p.State)
	if p.State == thread.PromptAnswered {
		s = fmt.Sprintf("%s in turn %d", s, p.Turn)
	}
	if p.Rewound {
		s += ", rewound since"
	}
	if p.With != "" {
		s += " with " + string(p.With)
	}
	if p.Reason != "" {
		s += " (" + FirstLine(p.Reason) + ")"
	}
	return s
}
