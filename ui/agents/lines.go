package agents

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/theme"
)

// builtIn reports whether an agent needs no installation.
func builtIn(name string) bool { return name == "demo" || name == "command" }

// lines lists the agents and what was found: all of them, or only those with a problem.
func lines(agents []thread.AgentInfo, all bool) []dialog.Line {
	var body []dialog.Line
	for _, a := range agents {
		switch {
		case a.Found && a.Problem == "":
			if all {
				text := fmt.Sprintf("✓ %-10s %s %s", a.Name, a.Version, a.Path)
				body = append(body, dialog.Line{Text: strings.TrimSpace(text), Tok: theme.Text})
			}
			continue
		case a.Found:
			body = append(body, dialog.Line{Text: fmt.Sprintf("▲ %-10s %s", a.Name, a.Problem), Tok: theme.Warn})
		default:
			problem := a.Problem
			if problem == "" {
				problem = "not found"
			}
			body = append(body, dialog.Line{Text: fmt.Sprintf("× %-10s %s", a.Name, problem), Tok: theme.Warn})
		}
		if a.Hint != "" {
			body = append(body, dialog.Line{Text: "  " + a.Hint, Tok: theme.Muted})
		}
		switch n := len(a.Looked); {
		case n == 0:
		case all || n < 3:
			body = append(body, dialog.Line{Text: "  looked in " + strings.Join(a.Looked, ", "), Tok: theme.Muted})
		default:
			body = append(body, dialog.Line{Tok: theme.Muted,
				Text: fmt.Sprintf("  looked in %s and %d other places", a.Looked[0], n-1)})
		}
	}
	return body
}
