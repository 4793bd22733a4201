package views

import (
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// partFacts returns what a part of a base is.
func partFacts(p *thread.BasePart, whole int64) []dialog.Line {
	share := ""
	if whole > 0 {
		share = ", " + thread.Percent(float64(p.Tokens)*100/float64(whole)) + " of what the agent sends before a word is said"
	}
	out := []dialog.Line{{Text: thread.Tokens(max(p.Tokens, 0)) + " tokens" + share}}
	if p.Kind == thread.BaseInstructions { // of a long path the title has a part
		out = append(out, dialog.Line{Text: plain.Line(p.Name), Tok: theme.Muted})
	}
	return out
}

// leftOutBy returns what a part could be left out by, and what is lost then.
func leftOutBy(p *thread.BasePart, r thread.BaseReport, err error) []dialog.Line {
	if err != nil {
		return []dialog.Line{{Text: "What it could be left out by is not known: " + err.Error(), Tok: theme.Bad}}
	}
	i := slices.IndexFunc(r.Levers, func(l thread.Lever) bool { return l.Name == p.Lever })
	if i < 0 {
		return []dialog.Line{{Text: "Nothing leaves it out.", Tok: theme.Muted}}
	}
	l := r.Levers[i]
	out := []dialog.Line{{Text: "Can be left out by: " + plain.Line(l.Name)}, {Text: "You lose: " + plain.Line(l.Lost)}}
	if l.Kept != "" {
		out = append(out, dialog.Line{Text: "Here it stays: " + plain.Line(l.Kept), Tok: theme.Muted})
	}
	for _, name := range l.Profiles {
		if n, ok := r.Profiles[name]; ok {
			out = append(out, dialog.Line{Text: fmt.Sprintf("Profile %s leaves it out: about %s tokens in all.", plain.Line(name), thread.Tokens(n)), Tok: theme.Muted})
		}
	}
	return out
}
