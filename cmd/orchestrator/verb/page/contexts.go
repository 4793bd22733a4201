package page

import (
	"fmt"
	"io"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Policy prints how much of a conversation is masked.
func Policy(w io.Writer, r thread.ContextReport) {
	printRow(w, "Thread", r.Name)
	printRow(w, "Mode", strings.TrimSuffix(string(r.Mode)+", "+r.Why, ", "))
	printRules(w, r.Rules)
}

// printRow prints a line about a context.
func printRow(w io.Writer, name, value string) {
	if value != "" {
		fmt.Fprintf(w, "%-9s %s\n", strings.TrimPrefix(name+":", ":"), plaintext.Line(value))
	}
}

// Context prints what fills a context.
func Context(w io.Writer, r thread.ContextReport, results bool) {
	row := func(name, value string) { printRow(w, name, value) }
	row("Thread", r.Name)
	row("Model", r.Model)
	row("Context", contextSize(r))
	if g := (thread.Gauge{Tokens: r.Tokens, Base: r.Base}); r.Base > 0 && r.Tokens > 0 {
		row("Base", fmt.Sprintf("%s tokens before a word is said, %s of history", thread.Tokens(min(r.Base, r.Tokens)), thread.Tokens(g.History())))
	}
	if r.Masked > 0 {
		row("Masked", thread.Tokens(r.Masked)+" tokens are not sent"+saved(r.SavedUSD))
	}
	if r.Aside != "" {
		row("Gateway", "not through the gateway: nothing can be masked")
		row("", plaintext.OneLine(r.Aside, 300))
		return
	}
	row("Mode", strings.TrimSuffix(string(r.Mode)+", "+r.Why, ", "))
	printRules(w, r.Rules)
	row("Forecast", forecast(r))
	if r.Offer != nil {
		row("Summary", offered(*r.Offer))
	}
	if len(r.Parts) > 0 {
		fmt.Fprintln(w)
		var t Columns
		t.Row("WHAT", "NAME", "TOKENS", "SHARE", "MASKED", "COUNT")
		for _, p := range r.Parts {
			t.Row(p.Kind, Dash(p.Name), thread.Tokens(p.Tokens), share(p.Tokens, r.Tokens), dashed(p.Masked), fmt.Sprint(p.Count))
		}
		t.Print(w)
	}
	if !results || len(r.Results) == 0 {
		return
	}
	fmt.Fprintln(w)
	var t Columns
	t.Row("RESULT", "TOOL", "FILE", "TOKENS", "REQUEST", "STATE")
	for _, res := range r.Results {
		tool := res.Tool
		if res.Input {
			tool += " (input)"
		}
		t.Row(res.ID[:min(8, len(res.ID))], tool, Dash(res.File), thread.Tokens(res.Tokens), fmt.Sprint(res.Turn), resultState(res))
	}
	t.Print(w)
}

func contextSize(r thread.ContextReport) string {
	if r.Tokens == 0 {
		return "not known yet: the next request shows it"
	}
	size := thread.Tokens(r.Tokens) + " tokens"
	if r.Window > 0 {
		size = fmt.Sprintf("%s of %s tokens, %s", thread.Tokens(r.Tokens), thread.Tokens(r.Window), share(r.Tokens, r.Window))
	}
	if r.Margin > 0 {
		size += fmt.Sprintf(" (±%.0f%%)", 100*r.Margin)
	}
	return size
}

// saved returns what masks have saved, for people.
func saved(usd float64) string {
	switch {
	case usd >= 0.005:
		return fmt.Sprintf("; saved $%.2f so far, cache writes included", usd)
	case usd <= -0.005:
		return fmt.Sprintf("; cost $%.2f so far, cache writes included", -usd)
	default:
		return ""
	}
}

func forecast(r thread.ContextReport) string {
	if r.Forecast == "" || r.Reason == "" {
		return r.Forecast + r.Reason
	}
	return r.Forecast + " (" + r.Reason + ")"
}

func resultState(r thread.ContextResult) string {
	switch {
	case r.Masked && r.Why != "":
		return fmt.Sprintf("masked %s at request %d: %s", r.Token, r.MaskedIn, r.Why)
	case r.Masked:
		return "masked " + string(r.Token)
	default:
		return r.Says()
	}
}

func share(n, of int64) string {
	if of <= 0 {
		return "-"
	}
	return thread.Percent(float64(n) * 100 / float64(of))
}

func dashed(n int64) string {
	if n == 0 {
		return "-"
	}
	return thread.Tokens(n)
}

// printRules prints what the rules by tool keep.
func printRules(w io.Writer, rules []thread.ContextRule) {
	for i, rule := range rules {
		name := "Rules"
		if i > 0 {
			name = ""
		}
		printRow(w, name, rule.Says())
	}
}
