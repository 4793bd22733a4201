package mcp

import (
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Table is the list of all servers. Its cursor stays on a server while others come, go and change places.
type Table struct {
	above  head
	rows   []row
	widest int // of the names
	by     order
	shown
}

// Set replaces what is shown.
func (t *Table) Set(r thread.MCPReport) {
	t.above = head{report: r, known: true}
	at := t.Selected()
	t.rows, t.widest = make([]row, len(r.Servers)), 0
	for i, s := range r.Servers {
		t.rows[i] = rowOf(s)
		t.widest = max(t.widest, plain.Width(t.rows[i].name))
	}
	t.arrange(at)
}

// Fail notes that the list could not be loaded; with drop, what is shown is not of use any more.
func (t *Table) Fail(err error, drop bool) {
	if drop {
		*t = Table{by: t.by}
	}
	t.above.err = err.Error()
}

// Known reports whether a list is shown.
func (t *Table) Known() bool { return t.above.known }

// Report returns the report that is shown.
func (t *Table) Report() thread.MCPReport { return t.above.report }

// Sort sorts by the next column, and returns its name.
func (t *Table) Sort() string {
	t.by = (t.by + 1) % orders
	t.arrange(t.Selected())
	return t.by.String()
}

// arrange sorts the rows, and keeps the cursor on a server.
func (t *Table) arrange(at *thread.MCPServer) {
	t.by.sort(t.rows)
	t.win.Fit(len(t.rows), t.win.Rows(), nil)
	for i := range t.rows {
		if at != nil && t.rows[i].server.ID == at.ID && t.rows[i].server.Name == at.Name {
			t.win.Go(i)
		}
	}
}

// Selected returns a copy of the server under the cursor, or nil.
func (t *Table) Selected() *thread.MCPServer {
	if at := t.win.At(); at < len(t.rows) {
		s := t.rows[at].server
		return &s
	}
	return nil
}

const (
	headRows = 5 // at most, above the table
	footRows = 3 // they say more of the server under the cursor
)

// Size returns how many rows the table needs in a width, at most h.
func (t *Table) Size(w, h int) int {
	rows := len(t.rows)
	if rows == 0 {
		rows = 12
	}
	return min(len(t.above.lines(w, headRows, ""))+1+rows+footRows, h)
}

// Draw draws the table.
func (t *Table) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, keys *intent.Table, now time.Time) {
	t.listed = layout.Box{}
	for _, l := range t.above.lines(b.W, headRows, label(keys, intent.Servers, intent.Problems)) {
		var top layout.Box
		top, b = b.Top(1)
		c.PrintSpans(top, 0, 0, th, l.Spans)
	}
	switch {
	case !t.above.known && t.above.err == "":
		c.Print(b, 0, 0, th.Style(theme.Muted), "…")
		return
	case len(t.rows) == 0 && t.above.known:
		y := 0
		for _, l := range none() {
			for _, part := range plain.Wrap(l.Text, b.W) {
				c.Print(b, 0, y, th.Style(l.Tok), part)
				y++
			}
		}
		return
	case len(t.rows) == 0:
		return
	}
	b, foot := b.Bottom(footRows)
	cols, name := fitting(filled(t.rows, now), b.W-1, t.widest) // a column is for the scroll bar
	head, b := b.Top(1)
	c.Print(head, boxWidth, 0, th.Style(t.title("name")), "server")
	drawCells(c, head, th, cols, name, func(col column) (string, theme.Token) { return col.title, t.title(col.title) })
	t.listed = b
	t.drawRows(c, b, th, cols, name, now)
	t.drawFoot(c, foot, th, keys, now)
}

// title returns the style of a column's name.
func (t *Table) title(name string) theme.Token {
	if name == t.by.String() {
		return theme.Accent
	}
	return theme.Muted
}

func (t *Table) drawRows(c *layout.Canvas, b layout.Box, th *theme.Theme, cols []column, name int, now time.Time) {
	t.win.Fit(len(t.rows), b.H, nil)
	for i, y := range t.win.Items() {
		r, line := &t.rows[i], b.Row(y)
		box, tok := boxOf(&r.server)
		c.Print(line, 0, 0, th.Style(tok), box)
		text := theme.Muted
		if r.server.On {
			text = theme.Text
		}
		c.Print(line, boxWidth, 0, th.Style(text), plain.Cut(r.name, name))
		drawCells(c, line, th, cols, name, func(col column) (string, theme.Token) {
			cell, tok := col.cell(r, now)
			if tok == theme.Text {
				tok = text
			}
			return cell, tok
		})
		if i == t.win.At() {
			line.W--
			c.Tint(line, th.Style(theme.SelectedFocus))
		}
	}
	if y, more := t.win.Thumb(); more {
		c.Print(b, b.W-1, y, th.Style(theme.Muted), "▐")
	}
}

// drawFoot says more of the server under the cursor.
func (t *Table) drawFoot(c *layout.Canvas, b layout.Box, th *theme.Theme, keys *intent.Table, now time.Time) {
	s := t.Selected()
	if s == nil || b.Empty() {
		return
	}
	c.Print(b, 0, 0, th.Style(theme.Border), strings.Repeat("─", b.W))
	lines := styled.Wrap(b.W, styled.Span{Text: strings.Join(append(facts(s, keys, now), clean(s.Target)), " · "), Tok: theme.Muted})
	for i, l := range lines {
		if i == b.H-2 && len(lines) > i+1 {
			c.Print(b, 0, i+1, th.Style(theme.Muted), plain.Cut(l.Text()+"…", b.W))
			return
		}
		c.PrintSpans(b, 0, i+1, th, l.Spans)
	}
}

// none returns what to do where no server is configured.
func none() []styled.Span {
	return []styled.Span{
		{Text: "No MCP servers are configured.", Tok: theme.Strong}, {},
		{Text: "Configure them in .mcp.json in the project's folder, in ~/.config/orchestrator/mcp.json for all of yours, " +
			"or in an agent's own files: ~/.claude.json, " +
			"~/.codex/config.toml, ~/.gemini/settings.json, opencode.json."}, {},
		{Text: "Agents get the tools of those that are switched on here. Nothing from a file of the " +
			"repository runs before you have accepted it.", Tok: theme.Muted},
	}
}
