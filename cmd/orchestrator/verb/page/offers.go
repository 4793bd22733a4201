package page

import (
	"fmt"
	"io"

	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// Offers prints a table of what is offered for threads, each of which has an offer.
func Offers(w io.Writer, list []thread.Status) {
	var t Columns
	t.Row("THREAD", "OFFER", "BECAUSE")
	for _, s := range list {
		t.Row(s.Name, plain.Cut(plain.Line(s.Offer.Says(s.Gauge)), mostText), plain.Cut(plain.Line(s.Offer.Why), mostText))
	}
	t.Print(w)
}

// Answered returns what became of an offer for a thread that was answered, with the thread that the answer is about.
func Answered(of thread.Status, o thread.Offer, answer string, s thread.Status) string {
	switch {
	case answer == "dismiss":
		return of.Name + ": declined"
	case s.ID != of.ID:
		return "forked to " + s.Name
	case o.Server != "":
		return fmt.Sprintf("%s: %s is switched on", of.Name, plain.Line(o.Server))
	case of.Execution == nil:
		return fmt.Sprintf("%s: its next start has %s", of.Name, plain.Line(o.Needs))
	default:
		return fmt.Sprintf("%s: restarts with %s once it waits", of.Name, plain.Line(o.Needs))
	}
}
