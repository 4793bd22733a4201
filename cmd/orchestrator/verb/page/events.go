package page

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// Widths of the columns of events: rows of a log that grows are printed one by one, and stand below each other all the
// same.
const (
	kindWidth  = 8
	labelWidth = 24
)

// Events prints rows of the event log.
func Events(w io.Writer, list []thread.Happening, now time.Time) {
	for _, h := range list {
		at, format := h.At.Local(), time.TimeOnly
		if at.Before(midnight(now)) {
			format = "Jan 02 15:04"
		}
		who := plain.Cut(plain.Line(cmp.Or(h.Label, h.Name, "-")), labelWidth)
		fmt.Fprintf(w, "%s  %-*s %s%s %s\n", at.Format(format), kindWidth, h.Kind, who, strings.Repeat(" ", labelWidth-plain.Width(who)),
			strings.TrimSpace(plain.Line(h.Text)))
	}
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Local().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.Local)
}
