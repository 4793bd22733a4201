package ui

import (
	"fmt"
	"slices"

	"orchestrator/ui/connection"
	"orchestrator/ui/gauge"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
	"orchestrator/ui/views"

	"charm.land/bubbles/v2/key"
)

// sums returns what all threads cost and how many of the running agents are working, if known.
func sums(conn *connection.Feature, n tree.Counts) string {
	said := ""
	if conn.Listed() {
		said = gauge.Cost(n.CostUSD) + "  "
	}
	switch {
	case conn.Lost():
		said += "no server"
	case conn.Listed() && n.Running == 0:
		said += "0 running"
	case conn.Listed():
		said += fmt.Sprintf("%d/%d working", n.Working, n.Running)
	}
	return said
}

// hint is an action in the status line with a short word for it.
type hint struct {
	action intent.Action
	word   string
}

// hints returns the most useful keys in the current context.
func (m *Model) hints() []hint {
	if m.screen.area == areaMain {
		switch m.views.Scope() {
		case intent.Timeline:
			return []hint{
				{intent.Open, "read"}, {intent.ForkAt, "fork here"}, {intent.Rewind, "rewind"},
				{intent.ShowDiff, "diff"}, {intent.Unfold, "responses"}, {intent.Leave, "threads"},
			}
		case intent.Turn:
			return []hint{
				{intent.Toggle, "expand"}, {intent.FoldAll, "all"}, {intent.Search, "search"},
				{intent.Older, "older"}, {intent.ForkAt, "fork"}, {intent.Leave, "back"},
			}
		case intent.Diff:
			return []hint{
				{intent.NextFile, "file"}, {intent.Base, "turns"}, {intent.Search, "search"},
				{intent.Editor, "edit"}, {intent.Leave, "threads"},
			}
		default:
		}
		if m.views.Now() == views.Terminal {
			return []hint{{intent.Leave, "threads"}}
		}
		return m.contextHints()
	}
	if m.tree.Selected() == nil {
		return []hint{{intent.New, "new"}, {intent.Archived, "archive"}, {intent.Help, "keys"}, {intent.Quit, "quit"}}
	}
	out := []hint{
		{intent.New, "new"}, {intent.Focus, "type"}, {intent.Help, "keys"}, {intent.Fork, "fork"},
		{intent.NextView, "view"}, {intent.Filter, "filter"}, {intent.Quit, "quit"},
	}
	if m.tree.Counts().Interrupted > 0 {
		out = append([]hint{{intent.Resumes, "interrupted"}}, out...)
	}
	if m.host.Undo.Len() > 0 {
		out = append([]hint{{intent.Undo, "undo"}}, out...)
	}
	return out
}

// contextHints returns the most useful keys in the context view.
func (m *Model) contextHints() []hint {
	if !m.views.Listed() {
		return []hint{{intent.NextView, "view"}, {intent.MaskMode, "mode"}, {intent.Leave, "back"}, {intent.Help, "keys"}}
	}
	return []hint{
		{intent.Mask, "mask"}, {intent.PinResult, "pin"}, {intent.MaskAll, "all"}, {intent.Summarise, "summary"},
		{intent.MaskMode, "mode"},
		{intent.Open, "show"}, {intent.Search, "filter"}, {intent.About, "about"}, {intent.Leave, "threads"},
	}
}

// drawKeys draws the hints; dialogs have their own.
func (m *Model) drawKeys(b layout.Box, x int) {
	if m.dialogs.Open() {
		return
	}
	bound := m.keys.Bindings(m.scopes()...)
	var shown []key.Binding
	for _, h := range m.hints() {
		if i := slices.IndexFunc(bound, func(k intent.Binding) bool { return k.Action == h.action }); i >= 0 {
			shown = append(shown, bound[i].As(h.word))
		}
	}
	keyhelp.Draw(&m.screen.canvas, b, x, m.th, shown)
}

// drawStatus draws the last line: input, a notice or the keys; and the counts.
func (m *Model) drawStatus(b layout.Box) {
	c := &m.screen.canvas
	n := m.tree.Counts()
	right := c.PrintRight(b, 1, 0, m.th.Style(theme.Muted), sums(m.conn, n))
	left := layout.Box{X: b.X + 1, Y: b.Y, W: right - 2, H: 1}
	if t := m.statusInput; t != nil {
		c.Print(left, 0, 0, m.th.Style(theme.Accent), "/")
		_, line := left.Left(2)
		hint := "text"
		if t.what == intent.Filter {
			hint = "name, agent or state"
		}
		t.field.Draw(c, line, m.th, m.th.Style(theme.Text), hint, true)
		return
	}
	x := 0
	if n.Waiting > 0 {
		verb := "need you"
		if n.Waiting == 1 {
			verb = "needs you"
		}
		x = c.Print(left, 0, 0, m.th.Style(theme.Waiting), fmt.Sprintf("! %d %s", n.Waiting, verb)) + 2
	} else if n.Unseen > 0 {
		x = c.Print(left, 0, 0, m.th.Style(theme.Accent), fmt.Sprintf("• %d unseen", n.Unseen)) + 2
	}
	if now := m.host.Notices.Now(); now != nil {
		c.Print(left, x, 0, m.th.Style(now.Token()), plain.Cut(plain.Line(now.Text), left.W-x))
		return
	}
	if m.conn.Known() {
		m.drawKeys(left, x)
	}
}
