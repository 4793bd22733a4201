// Package mcp draws the configured MCP servers: a short list for the side bar and a full one for a dialog. It cannot
// change them.
package mcp

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Panel is the list for the side bar.
type Panel struct {
	servers []thread.MCPServer
	known   bool // the list is loaded
}

// Set replaces the list.
func (p *Panel) Set(servers []thread.MCPServer) {
	p.servers = slices.Clone(servers)
	slices.SortStableFunc(p.servers, func(a, b thread.MCPServer) int { return strings.Compare(a.Name, b.Name) })
	p.known = true
}

// Height returns how many rows the whole list needs.
func (p *Panel) Height() int { return max(len(p.servers), 1) }

// Draw draws as many servers as fit.
func (p *Panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	switch {
	case !p.known:
		c.Print(b, 0, 0, th.Style(theme.Muted), "…")
		return
	case len(p.servers) == 0:
		c.Print(b, 0, 0, th.Style(theme.Muted), plain.Cut("No servers", b.W))
		return
	}
	for y, s := range p.servers {
		if y == b.H-1 && len(p.servers) > b.H {
			c.Print(b, 0, y, th.Style(theme.Muted), plain.Cut(fmt.Sprintf("… %d more (m)", len(p.servers)-y), b.W))
			return
		}
		box, glyph, tok := look(s)
		c.Print(b, 0, y, th.Style(theme.Muted), box)
		c.Print(b, 4, y, th.Style(theme.Text), plain.Cut(plain.Line(s.Name), b.W-6))
		c.PrintRight(b, 0, y, th.Style(tok), glyph)
	}
}

// look returns a server's check box, glyph and style.
func look(s thread.MCPServer) (box, glyph string, tok theme.Token) {
	switch {
	case s.Problem != "":
		return "[!]", "✗", theme.Bad
	case !s.Trusted:
		return "[?]", "?", theme.Warn
	case s.On:
		return "[x]", "●", theme.Good
	default:
		return "[ ]", "○", theme.Muted
	}
}

// Details returns the full list as lines.
func (p *Panel) Details() []string {
	if len(p.servers) == 0 {
		return []string{"No MCP servers configured for this project or its agents."}
	}
	var out []string
	for i, s := range p.servers {
		if i > 0 {
			out = append(out, "")
		}
		box, _, _ := look(s)
		out = append(out, box+" "+plain.Line(s.Name)+"  "+plain.Line(s.Transport)+"  "+plain.Line(s.Target))
		for _, from := range s.Sources {
			out = append(out, "    from "+plain.Line(from.File))
		}
		if !s.Trusted {
			out = append(out, "    From this repository, not trusted yet: disabled.")
		}
		if s.Problem != "" {
			out = append(out, "    problem: "+plain.Line(s.Problem))
		}
	}
	return out
}
