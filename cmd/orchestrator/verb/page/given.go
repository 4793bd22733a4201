package page

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/plain"
)

// Given prints what executions were given, and what came of it.
func Given(w io.Writer, list []record.Given) {
	for i, g := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		r := g.Execution
		fmt.Fprintln(w, plain.Line(fmt.Sprintf("%s: %s, %s, %s", r.Execution, r.AgentType, r.State, clock(r.Created))))
		fact(w, "work session", r.Session+joined(", task ", r.Task))
		fact(w, "scope", r.Scope)
		givenPieces(w, g)
		asked(w, g)
		fmt.Fprintln(w, "CAME OF IT")
		fact(w, "it", cameOf(r))
		for _, m := range g.Outputs {
			detail(w, madeLine(m))
		}
		detail(w, r.Message)
	}
}

// cameOf is how an execution ended and what it used.
func cameOf(r work.Row) string {
	text := fmt.Sprintf("%s in %s, cost %s", r.State, took(r), spent(r.Spent))
	if r.Cached > 0 {
		text += fmt.Sprintf(", %s of them cached", thread.Tokens(r.Cached))
	}
	return text + joined(": ", plain.Line(plain.First(r.Error)))
}

// facts is how wide the names of facts are.
const factWidth = 13

// fact prints a fact with its name, in as many lines as it needs; nothing if there is none.
func fact(w io.Writer, name, value string) {
	value = plain.Line(strings.Join(strings.Fields(value), " "))
	if value == "" {
		return
	}
	for i, l := range plain.Wrap(value, pageWidth-len(margin)-factWidth-1) {
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(w, "%s%-*s %s\n", margin, factWidth, name, l)
	}
}

// givenPieces prints the context that an execution was given.
func givenPieces(w io.Writer, g record.Given) {
	fmt.Fprintln(w, "GIVEN")
	if b := g.Bundle; b != nil {
		text := fmt.Sprintf("%s, %s tokens, %s left", b.ID, thread.Tokens(b.Tokens), leftOf(b.Remaining))
		if b.AgentType != "" {
			text += ", made for " + work.OneOf(b.AgentType)
		}
		fact(w, "bundle", text+", "+clock(b.Created))
	} else if g.Execution.Bundle != "" {
		fact(w, "bundle", g.Execution.Bundle+", which is not kept any more")
	}
	if n := g.Execution.Context; n > 0 {
		fact(w, "context", thread.Tokens(n)+" tokens before it began")
	}
	if len(g.Context) == 0 {
		return
	}
	var t Columns
	t.Row("", "SOURCE", "TOKENS", "SENT", "NOW", "SECTIONS")
	for _, p := range g.Context {
		sent := "yes"
		if !p.Piece.Included {
			sent = "NO"
		}
		if p.Piece.Claimed {
			sent += ", said"
		}
		if p.Piece.Priority == work.Recommended {
			sent += " (recommended)"
		}
		t.Row("", plain.Cut(p.Piece.Source, 2*mostName), thread.Tokens(p.Piece.Tokens), sent, Dash(string(p.Now)), plain.Cut(cmp.Or(strings.Join(p.Piece.Sections, ", "), "all"), mostName))
	}
	t.Print(w)
}

// leftOf is what is left of a budget in tokens.
func leftOf(n int64) string {
	if n < 0 {
		return "-" + thread.Tokens(-n)
	}
	return thread.Tokens(n)
}

// asked prints what an execution was asked.
func asked(w io.Writer, g record.Given) {
	if g.Asked == "" {
		return
	}
	text := "asked:"
	if g.Cut {
		text = "asked, its beginning; --full has all of it:"
	}
	fmt.Fprintln(w, margin+text)
	block(w, g.Asked)
}

// block prints a text with its lines, each wrapped to the page.
func block(w io.Writer, text string) {
	for _, l := range plain.Lines(strings.TrimSpace(text)) {
		for _, part := range plain.Wrap(l, pageWidth-2*len(margin)) {
			fmt.Fprintln(w, strings.TrimRight(margin+margin+part, " "))
		}
	}
}

// ago is a time with its age.
func ago(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s (%s ago)", clock(at), thread.Age(now.Sub(at)))
}
