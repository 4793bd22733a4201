package agents

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/theme"
)

// builtIn are the agents that need no installation.
func builtIn(name string) bool { return name == "demo" || name == "command" }

// lines lists the agents with what was found of them.
func lines(agents []thread.AgentInfo, all bool) []dialog.Line {
	var body []dialog.Line
	for _, a := range agents {
		switch {
		case a.Found && a.Problem == "":
			if all {
				body = append(body, dialog.Line{Text: strings.TrimSpace(fmt.Sprintf("✓ %-10s %s %s", a.Name, a.Version, a.Path)), Tok: theme.Good})
			}
			continue
		case a.Found:
			body = append(body, dialog.Line{Text: fmt.Sprintf("▲ %-10s %s", a.Name, a.Problem), Tok: theme.Warn})
		default:
			problem := a.Problem
			if problem == "" {
				problem = "not found"
			}
			body = append(body, dialog.Line{Text: fmt.Sprintf("✗ %-10s %s", a.Name, problem), Tok: theme.Warn})
		}
		if a.Hint != "" {
			body = append(body, dialog.Line{Text: "  " + a.Hint, Tok: theme.Muted})
		}
		switch n := len(a.Looked); {
		case n == 0:
		case all || n < 3:
			body = append(body, dialog.Line{Text: "  looked in " + strings.Join(a.Looked, ", "), Tok: theme.Muted})
		default:
			body = append(body, dialog.Line{Text: fmt.Sprintf("  looked in %s and %d other places", a.Looked[0], n-1), Tok: theme.Muted})
		}
	}
	return body
}
