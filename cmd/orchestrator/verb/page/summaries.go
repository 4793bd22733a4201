package page

import (
	"fmt"
	"io"

	"orchestrator/thread"
)

// Summaries prints the summaries of a thread, and what another one would mean.
func Summaries(w io.Writer, r thread.ContextReport) {
	if len(r.Summaries) > 0 {
		var t Columns
		t.Row("SUMMARY", "BY", "REPLACES", "TOKENS", "WRITTEN", "STATE")
		for _, s := range r.Summaries {
			t.Row(s.ID[:min(8, len(s.ID))], summaryAuthor(s), thread.Tokens(s.Replaced), thread.Tokens(s.Tokens),
				s.At.Local().Format("2006-01-02 15:04"), summaryState(s))
		}
		t.Print(w)
	}
	switch {
	case r.Offer != nil:
		fmt.Fprintln(w, offered(*r.Offer)+"; --write has it written.")
	case len(r.Summaries) == 0:
		fmt.Fprintln(w, "No summary, and no older turns that one could replace.")
	}
}

func summaryAuthor(s thread.ContextSummary) string {
	if s.Source == "" {
		return "extract"
	}
	return s.Source
}

func summaryState(s thread.ContextSummary) string {
	switch {
	case s.Dropped:
		return "dropped"
	case s.Stands:
		return "sent"
	default:
		return "stored"
	}
}

// offered returns what a summary would mean.
func offered(o thread.SummaryOffer) string {
	turns := "the oldest turn"
	if o.Turns != 1 {
		turns = fmt.Sprintf("the %d oldest turns", o.Turns)
	}
	cost := "its price is not known"
	if o.Priced {
		cost = fmt.Sprintf("writing it costs about $%.2f", o.CostUSD)
	}
	return fmt.Sprintf("A summary of %s would free %s tokens; %s", turns, thread.Tokens(o.Frees), cost)
}
