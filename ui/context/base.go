package context

import (
	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// baseRows returns the rows of what an agent sends before a word is said: all of it, and each part with its share and what
// it could be left out by; none if that is not known.
func baseRows(r *thread.ContextReport, open bool) []row {
	if r.Base <= 0 || len(r.BaseParts) == 0 {
		return nil
	}
	out := []row{{
		base: true, open: open, tool: "base", file: "before a word is said: " + plain.Count(len(r.BaseParts), "part"), tokens: r.Base,
		status: shareOf(r.Base, r.Tokens) + " of the context", brief: shareOf(r.Base, r.Tokens),
	}}
	for _, p := range r.BaseParts {
		one := row{part: &p, tool: "  " + plain.Line(start(p.Says())), tokens: p.Tokens, status: shareOf(p.Tokens, r.Base)}
		if p.Kind == thread.BaseInstructions {
			one.tool, one.file = "  file", plain.Line(end(p.Name))
		}
		if p.Lever != "" {
			lever := plain.Line(start(p.Lever))
			one.brief = one.status + ", " + lever
			one.status += ", can go: " + lever
		}
		out = append(out, one)
	}
	return out
}

func shareOf(n, of int64) string {
	if of <= 0 || n <= 0 {
		return "0%"
	}
	return thread.Percent(min(float64(n)*100/float64(of), 100))
}
