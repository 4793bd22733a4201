package mcp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Panel names the servers in the side bar: those that are on first, each with what its tools take of a context.
type Panel struct {
	servers []thread.MCPServer
	tokens  int64 // of what is on
	none    bool  // the agent uses none
	known   bool  // the list is loaded
	err     string
}

// Set replaces the list.
func (p *Panel) Set(r thread.MCPReport) {
	p.servers = slices.Clone(r.Servers)
	slices.SortStableFunc(p.servers, func(a, b thread.MCPServer) int {
		return cmp.Or(used(&a, &b), cmp.Compare(strings.ToLower(Name(&a)), strings.ToLower(Name(&b))), cmp.Compare(a.ID, b.ID))
	})
	p.tokens, p.none, p.known, p.err = r.Tokens, r.None, true, ""
}

// Fail drops the list, because it could not be loaded.
func (p *Panel) Fail(err error) { *p = Panel{err: err.Error()} }

// Sum returns in a word what the tools take of a context, "" if that is nothing or unknown.
func (p *Panel) Sum() string {
	if !p.known || p.none || p.tokens <= 0 {
		return ""
	}
	return "mcp " + tokens(p.tokens)
}

// entryName is how many cells a name has in the side bar.
const entryName = 16

// Draw draws as many servers as fit; key is the one that opens their panel.
func (p *Panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, key string) {
	muted := th.Style(theme.Muted)
	if b.Empty() {
		return
	}
	x := c.Print(b, 0, 0, muted, "mcp  ")
	_, in := b.Left(x)
	c.PrintRight(b, 0, 0, th.Style(theme.Key), key)
	in.W = max(in.W-len(key)-1, 0)
	switch {
	case p.err != "":
		c.Print(in, 0, 0, th.Style(theme.Bad), plain.Cut("× "+clean(p.err), in.W))
	case !p.known:
		c.Print(in, 0, 0, muted, "…")
	case p.none:
		c.Print(in, 0, 0, muted, plain.Cut("none: this agent uses no servers", in.W))
	case len(p.servers) == 0:
		c.Print(in, 0, 0, muted, "no servers")
	default:
		p.drawServers(c, in, th)
	}
}

// drawServers draws servers beside each other, and how many more there are.
func (p *Panel) drawServers(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	x, y := 0, 0
	for i := range p.servers {
		spans := entry(&p.servers[i])
		w, room := styled.Width(spans...), b.W
		if left := len(p.servers) - i; y == b.H-1 && left > 1 {
			room -= len(fmt.Sprintf("  +%d", left))
		}
		if x > 0 {
			w += 2
		}
		if x > 0 && x+w > room && y < b.H-1 {
			x, y, w = 0, y+1, w-2
		}
		if x > 0 && x+w > room {
			c.Print(b, x, y, th.Style(theme.Muted), fmt.Sprintf("  +%d", len(p.servers)-i))
			return
		}
		if x > 0 {
			x += 2
		}
		x = c.PrintSpans(b, x, y, th, spans)
	}
}

// entry is a server: the mark of its state, its name and its price.
func entry(s *thread.MCPServer) []styled.Span {
	text := theme.Muted
	if s.On {
		text = theme.Text
	}
	sign := glyph{sign: "□", tok: theme.Muted}
	if state := stateOf(s); state.tok == theme.Bad || state.tok == theme.Warn || state.tok == theme.Waiting {
		sign = state
	} else if s.On {
		sign = glyph{sign: "■", tok: theme.Text}
	}
	out := []styled.Span{{Text: sign.sign + " ", Tok: sign.tok}, {Text: plain.Cut(Name(s), entryName), Tok: text}}
	if n := price(s); n != "" {
		out = append(out, styled.Span{Text: " " + n, Tok: theme.Muted})
	}
	return out
}
