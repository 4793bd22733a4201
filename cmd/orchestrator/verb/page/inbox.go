package page

import (
	"io"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// mostText is how many cells of what an item is about a row shows.
const mostText = 70

// Inbox prints a table of what is open.
func Inbox(w io.Writer, items []thread.InboxItem, now time.Time) {
	var t Columns
	t.Row("KIND", "AGE", "NAME", "ABOUT")
	for _, i := range items {
		age := ""
		if !i.Since.IsZero() {
			age = thread.Age(now.Sub(i.Since))
		}
		t.Row(string(i.Kind), age, i.Name, plain.Cut(plain.Line(i.Text), mostText))
	}
	t.Print(w)
}
