package mcp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Panel is the list for the side bar: the servers that are on first, and at the end what their tools take of a context.
type Panel struct {
	servers []thread.MCPServer
	sum     string
	known   bool   // the list is loaded
	err     string // why it is not
}

// Set replaces the list.
func (p *Panel) Set(r thread.MCPReport) {
	p.servers = slices.Clone(r.Servers)
	slices.SortStableFunc(p.servers, func(a, b thread.MCPServer) int {
		return cmp.Or(used(&a, &b), cmp.Compare(strings.ToLower(Name(&a)), strings.ToLower(Name(&b))), cmp.Compare(a.ID, b.ID))
	})
	p.sum = "on " + tokens(r.Tokens) + " of " + tokens(r.All) + " tokens"
	if r.None {
		p.sum = "this agent uses none"
	}
	p.known, p.err = true, ""
}

// Fail drops the list, because it could not be loaded.
func (p *Panel) Fail(err error) { *p = Panel{err: err.Error()} }

// Height returns how many rows the whole list needs.
func (p *Panel) Height() int {
	if !p.known || len(p.servers) == 0 {
		return 1
	}
	return len(p.servers) + 1
}

// Draw draws as many servers as fit, above the sum.
func (p *Panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	muted := th.Style(theme.Muted)
	switch {
	case p.err != "":
		c.Print(b, 0, 0, th.Style(theme.Bad), plain.Cut("✗ "+clean(p.err), b.W))
		return
	case !p.known:
		c.Print(b, 0, 0, muted, "…")
		return
	case len(p.servers) == 0:
		c.Print(b, 0, 0, muted, plain.Cut("No servers", b.W))
		return
	}
	rows, foot := b.Bottom(1)
	c.Print(foot, 0, 0, muted, plain.Cut(p.sum, b.W))
	for y := range p.servers {
		if y == rows.H-1 && len(p.servers) > rows.H {
			c.Print(rows, 0, y, muted, plain.Cut(fmt.Sprintf("… %d more (m)", len(p.servers)-y), b.W))
			return
		}
		if y == rows.H {
			return
		}
		drawEntry(c, rows.Row(y), th, &p.servers[y])
	}
}

// drawEntry draws a server: its box, its name, its price and the glyph of its state.
func drawEntry(c *layout.Canvas, b layout.Box, th *theme.Theme, s *thread.MCPServer) {
	box, tok := boxOf(s)
	state := stateOf(s)
	text := th.Style(theme.Muted)
	if s.On {
		text = th.Style(theme.Text)
	}
	c.Print(b, 0, 0, th.Style(tok), box)
	right := c.PrintRight(b, 0, 0, th.Style(state.tok), state.sign)
	if n := price(s); n != "" {
		right = c.PrintRight(b, b.W-right+1, 0, text, n)
	}
	c.Print(b, 4, 0, text, plain.Cut(Name(s), right-5))
}
