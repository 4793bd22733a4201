package page

import (
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// Bundles prints a list of bundles.
func Bundles(w io.Writer, list []work.KeptBundle, now time.Time) {
	var t Columns
	t.Row("BUNDLE", "FOR", "ITEMS", "TOKENS", "LEFT", "AGE", "SCOPE")
	for _, k := range list {
		b := k.Bundle
		t.Row(b.ID, b.AgentType, fmt.Sprint(len(b.Items)), thread.Tokens(b.Total), thread.Tokens(b.Remaining), thread.Age(now.Sub(b.Created)),
			plaintext.Short(plaintext.OneLine(b.Scope, 60), 60))
	}
	t.Print(w)
}

// Explained prints what fills a bundle.
func Explained(w io.Writer, e bundle.Explained) {
	if e.Bundle != "" {
		fmt.Fprintf(w, "%s: %s tokens, %s of the budget left\n", e.Bundle, thread.Tokens(e.Total), thread.Tokens(e.Remaining))
	}
	items(w, e)
	if len(e.Drop) > 0 {
		fmt.Fprintf(w, "leave out first: %s (frees %s tokens)\n", plaintext.Line(strings.Join(e.Drop, ", ")), thread.Tokens(e.Frees))
	}
}

func items(w io.Writer, e bundle.Explained) {
	var t Columns
	t.Row("", "ITEM", "TYPE", "PRIORITY", "TOKENS", "SHARE", "")
	for _, it := range e.Items {
		source := it.Source
		if len(it.Sections) > 0 {
			source += ": " + strings.Join(it.Sections, ", ")
		}
		tokens := thread.Tokens(it.Tokens)
		if it.Claimed {
			tokens += " (claimed)"
		}
		t.Row(string(it.Verdict), plaintext.Short(source, 60), string(it.Type), string(it.Priority), tokens, fmt.Sprintf("%.1f%%", it.Share), it.Advice)
	}
	t.Print(w)
}

// Bounds prints what files have of a budget.
func Bounds(w io.Writer, b bundle.Budget, e bundle.Explained) {
	items(w, e)
	level(w, b)
}

func level(w io.Writer, b bundle.Budget) {
	fmt.Fprintf(w, "%s of %s tokens (%.0f%%), %s left: %s\n", thread.Tokens(b.Used), thread.Tokens(b.Budget), 100*b.Part,
		thread.Tokens(b.Remaining), b.Level)
}

// Budget prints what of a budget is used.
func Budget(w io.Writer, b bundle.Budget) {
	if b.Session != "" || b.Phase > 0 {
		text := "work session " + b.Session
		if b.Session == "" {
			text = "bundles"
		}
		if b.Phase > 0 {
			text += fmt.Sprintf(", phase %d (%s)", b.Phase, work.Phase(b.Phase))
		}
		fmt.Fprintln(w, plaintext.Line(text))
	}
	if len(b.Parts) > 0 {
		var t Columns
		t.Row("EXECUTION", "BUNDLE", "FOR", "TOKENS", "")
		for _, p := range b.Parts {
			note := ""
			switch {
			case p.Over:
				note = "over its own budget"
			case p.Claimed:
				note = "claimed"
			}
			t.Row(orDash(p.Execution), orDash(p.Bundle), orDash(p.AgentType), thread.Tokens(p.Tokens), note)
		}
		t.Print(w)
	}
	level(w, b)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Shared prints what several bundles have alike.
func Shared(w io.Writer, s bundle.Shared) {
	if len(s.Items) > 0 {
		var t Columns
		t.Row("SHARED", "TOKENS", "BY")
		for _, it := range s.Items {
			source := it.Source
			if len(it.Sections) > 0 {
				source += ": " + strings.Join(it.Sections, ", ")
			}
			t.Row(plaintext.Short(source, 60), thread.Tokens(it.Tokens), strings.Join(it.Bundles, ", "))
		}
		t.Print(w)
	}
	var t Columns
	t.Row("BUNDLE", "TOKENS", "DOUBLED", "CACHED", "NOW")
	for _, p := range s.Parts {
		t.Row(p.Bundle, thread.Tokens(p.Before), thread.Tokens(p.Doubled), thread.Tokens(p.Cached), p.As)
	}
	t.Print(w)
	fmt.Fprintf(w, "%s tokens before, %s read in full after (%.1f%% less)\n", thread.Tokens(s.Before), thread.Tokens(s.After), s.Percent())
	fmt.Fprintf(w, "  %s were in a bundle twice and are sent no more\n", thread.Tokens(s.Doubled))
	fmt.Fprintf(w, "  %s are sent all the same and fill the windows: the provider reads them from its cache\n", thread.Tokens(s.Cached))
	if s.Apart > 0 {
		fmt.Fprintf(w, "  %s are shared and yet not cached: other items stand before them\n", thread.Tokens(s.Apart))
	}
}

// Allocations prints what an execution was given.
func Allocations(w io.Writer, list []work.Allocation) {
	var t Columns
	t.Row("TYPE", "SOURCE", "TOKENS", "SENT", "BUNDLE")
	for _, a := range list {
		sent := "yes"
		switch {
		case !a.Included:
			sent = "no"
		case a.Claimed:
			sent = "claimed"
		}
		source := a.Source
		if len(a.Sections) > 0 {
			source += ": " + strings.Join(a.Sections, ", ")
		}
		t.Row(string(a.Type), plaintext.Short(source, 60), thread.Tokens(a.Tokens), sent, orDash(a.Bundle))
	}
	t.Print(w)
}
