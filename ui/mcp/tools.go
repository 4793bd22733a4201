package mcp

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Tools is the list of a server's tools. Its cursor stays on a tool while others come and go.
type Tools struct {
	tools  []thread.MCPTool
	widest int  // of the names
	some   bool // some are withheld
	known  bool
	err    string
	shown
}

// Set replaces the tools. Those that are withheld come first.
func (t *Tools) Set(d thread.MCPDetail) {
	at := t.Selected()
	t.tools, t.widest, t.some, t.known, t.err = nil, 0, false, true, ""
	if !d.Known && len(d.List) == 0 {
		t.err = "The tools are not known until the server has started once."
		if !d.Accepted {
			t.err = "The tools are not known: the server is not accepted."
		}
	}
	for _, withheld := range []bool{true, false} {
		for _, tool := range d.List {
			if (tool.Withheld != "") == withheld {
				t.tools = append(t.tools, tool)
				t.some = t.some || withheld
				t.widest = max(t.widest, plain.Width(clean(tool.Name)))
			}
		}
	}
	t.win.Fit(len(t.tools), t.win.Rows(), nil)
	for i := range t.tools {
		if at != nil && t.tools[i].Name == at.Name {
			t.win.Go(i)
		}
	}
}

// Fail says that the tools could not be loaded.
func (t *Tools) Fail(err error) { t.err = err.Error() }

// Withheld reports whether some tools are withheld.
func (t *Tools) Withheld() bool { return t.some }

// Selected returns a copy of the tool under the cursor, or nil.
func (t *Tools) Selected() *thread.MCPTool {
	if at := t.win.At(); at < len(t.tools) {
		tool := t.tools[at]
		return &tool
	}
	return nil
}

// Rows returns how many rows the list needs.
func (t *Tools) Rows() int { return max(len(t.tools), 5) + footRows }

// Draw draws the list.
func (t *Tools) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	t.listed = layout.Box{}
	if t.err != "" || !t.known {
		text, tok := "…", theme.Muted
		if t.err != "" {
			text, tok = clean(t.err), theme.Warn
		}
		for _, part := range plain.Wrap(text, b.W) {
			var top layout.Box
			top, b = b.Top(1)
			c.Print(top, 0, 0, th.Style(tok), part)
		}
	}
	if len(t.tools) == 0 {
		if t.known && t.err == "" {
			c.Print(b, 0, 0, th.Style(theme.Muted), "It has no tools.")
		}
		return
	}
	b, foot := b.Bottom(footRows)
	t.listed = b
	name := min(t.widest, max(b.W/3, nameMin))
	t.win.Fit(len(t.tools), b.H, nil)
	for i, y := range t.win.Items() {
		drawTool(c, b.Row(y), th, &t.tools[i], name)
		if i == t.win.At() {
			line := b.Row(y)
			line.W--
			c.Tint(line, th.Style(theme.SelectedFocus))
		}
	}
	if y, more := t.win.Thumb(); more {
		c.Print(b, b.W-1, y, th.Style(theme.Muted), "▐")
	}
	c.Print(foot, 0, 0, th.Style(theme.Border), strings.Repeat("─", foot.W))
	for i, l := range styled.Wrap(foot.W, said(t.Selected())) {
		c.PrintSpans(foot, 0, i+1, th, l.Spans)
	}
}

// drawTool draws a tool: its box, its name, its tokens, and what it does or why it is withheld.
func drawTool(c *layout.Canvas, b layout.Box, th *theme.Theme, t *thread.MCPTool, name int) {
	box, tok, text := "[ ]", theme.Muted, theme.Muted
	switch {
	case t.Withheld != "":
		box, tok, text = "[!]", theme.Warn, theme.Warn
	case t.On:
		box, tok, text = "[x]", theme.Text, theme.Text
	}
	c.Print(b, 0, 0, th.Style(tok), box)
	c.Print(b, boxWidth, 0, th.Style(text), plain.Cut(clean(t.Name), name))
	n := tokens(t.Tokens)
	c.Print(b, boxWidth+name+7-plain.Width(n), 0, th.Style(text), n)
	says := said(t)
	x := boxWidth + name + 9
	c.Print(b, x, 0, th.Style(says.Tok), plain.Cut(says.Text, b.W-1-x))
}

// said returns what a tool does, or why it is withheld.
func said(t *thread.MCPTool) styled.Span {
	text, tok := "", theme.Muted
	if t.Unusable != "" {
		text = "not usable: " + clean(t.Unusable) + " · "
	}
	if t.Withheld != "" {
		text, tok = "withheld: "+clean(t.Withheld)+" · ", theme.Warn
	}
	if len(t.Hidden) > 0 {
		text, tok = text+"hidden: "+clean(strings.Join(t.Hidden, ", "))+" · ", theme.Warn
	}
	return styled.Span{Text: text + clean(t.Description), Tok: tok}
}
