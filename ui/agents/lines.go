package agents

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/theme"
)

// builtIn reports whether an agent needs no installation.
func builtIn(name string) bool { return name == "demo" || name == "command" }

// installed returns the coding agents that were found, with their versions, and the names of the others.
func installed(agents []thread.AgentInfo) (found, others []string) {
	for _, a := range agents {
		switch {
		case builtIn(a.Name):
		case a.Found:
			found = append(found, strings.TrimSpace(a.Name+" "+a.Version))
		default:
			others = append(others, a.Name)
		}
	}
	return found, others
}

// lines lists the agents: those that can be started, then how the others are installed, and once where they were
// searched for.
func lines(agents []thread.AgentInfo) []dialog.Line {
	var here, missing []dialog.Line
	var looked []string
	for _, a := range agents {
		if a.Found {
			here = append(here, ready(a)...)
			continue
		}
		how := strings.TrimPrefix(a.Hint, "install it with: ")
		if a.Problem != "not found" && a.Problem != "" {
			how = strings.TrimSpace(a.Problem + ". " + a.Hint)
		}
		missing = append(missing, dialog.Line{Text: fmt.Sprintf("× %-9s %s", a.Name, how)})
		for _, path := range a.Looked {
			if folder := filepath.Dir(path); !slices.Contains(looked, folder) {
				looked = append(looked, folder)
			}
		}
	}
	body := here
	if len(missing) > 0 {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Not installed. To install them:", Tok: theme.Strong})
		body = append(body, missing...)
	}
	if len(looked) > 0 {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Looked in " + strings.Join(looked, ", "), Tok: theme.Muted})
	}
	return body
}

// ready describes an agent that was found.
func ready(a thread.AgentInfo) []dialog.Line {
	about := strings.TrimSpace(a.Version + " " + a.Path)
	switch {
	case a.Problem != "":
		return []dialog.Line{
			{Text: fmt.Sprintf("▲ %-9s %s", a.Name, a.Problem), Tok: theme.Warn}, {Text: "            " + a.Hint, Tok: theme.Muted},
		}
	case builtIn(a.Name):
		about = strings.TrimSpace(strings.Join([]string{a.Version, a.Hint}, " "))
	}
	return []dialog.Line{{Text: fmt.Sprintf("✓ %-9s %s", a.Name, about), Tok: theme.Text}}
}
