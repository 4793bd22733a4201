package page

import (
	"fmt"
	"io"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Question prints what a thread's agent asks, and the answers.
func Question(w io.Writer, name string, q thread.Question, now time.Time) {
	fmt.Fprintf(w, "%s asks, for %s:\n", name, thread.Age(now.Sub(q.Since)))
	if q.About != "" {
		fmt.Fprintf(w, "  %s\n", plaintext.Line(q.About))
	}
	fmt.Fprintf(w, "  %s\n", plaintext.Line(q.Text))
	for i, c := range q.Choices {
		fmt.Fprintf(w, "    %d. %s\n", i+1, plaintext.Line(c.Text))
	}
}
