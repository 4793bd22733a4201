package mcp

import (
	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// glyph is how a state is drawn. In a list sorted by states, lower ranks come first.
type glyph struct {
	sign, word string
	tok        theme.Token
	rank       int
}

// stateOf returns how the state of a server is drawn.
func stateOf(s *thread.MCPServer) glyph {
	switch {
	case s.Problem != "":
		return glyph{"×", "problem", theme.Bad, 0}
	case s.Changed && !s.Accepted:
		return glyph{"?", "changed", theme.Warn, 4}
	case s.Rejected:
		return glyph{"?", "rejected", theme.Muted, 8}
	case !s.Accepted:
		return glyph{"?", "new", theme.Warn, 4}
	}
	switch s.State {
	case "failed":
		return glyph{"×", "cannot start", theme.Bad, 1}
	case "needs-auth":
		return glyph{"◇", "sign in", theme.Warn, 2}
	case "needs-input":
		return glyph{"◆", "asks you", theme.Waiting, 2}
	case "quarantined":
		return glyph{"!", "withheld", theme.Warn, 2}
	case "degraded":
		return glyph{"◒", "degraded", theme.Warn, 3}
	case "backoff":
		return glyph{"◌", "cannot start", theme.Warn, 3}
	case "busy":
		return glyph{"◉", "busy", theme.Working, 5}
	case "starting":
		return glyph{"◐", "starting", theme.Working, 6}
	case "ready":
		return glyph{"●", "ready", theme.Text, 7}
	case "", "cold", "unapproved":
		return glyph{"○", "cold", theme.Muted, 8}
	case "disabled":
		return glyph{"○", "off", theme.Muted, 8}
	default:
		return glyph{"·", plain.Line(start(s.State)), theme.Muted, 9}
	}
}

// boxOf returns the check box of a server.
func boxOf(s *thread.MCPServer) (string, theme.Token) {
	box := s.Box()
	switch {
	case box == "[!]" && (s.Problem != "" || s.State == "failed"):
		return box, theme.Bad
	case box == "[!]" || box == "[?]":
		return box, theme.Warn
	case box == "[a]":
		return box, theme.Accent
	case s.On:
		return box, theme.Text
	default:
		return box, theme.Muted
	}
}
