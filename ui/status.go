package ui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"

	"orchestrator/ui/gauge"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
)

// drawOffer draws the fork that is offered.
func (m *Model) drawOffer(b layout.Box) {
	o := m.offer()
	if o == nil || b.Empty() {
		return
	}
	c := &m.screen.canvas
	var keys strings.Builder
	if m.live.focus { // the agent has the keys
		keys.WriteString("  " + m.leaveKey() + ",")
	}
	for _, k := range m.keys.Bindings(intent.Offer) {
		word := map[intent.Action]string{intent.TakeOffer: "take", intent.DismissOffer: "dismiss", intent.OffersOff: "off"}[k.Action]
		keys.WriteString("  " + k.Label() + " " + word)
	}
	right := c.PrintRight(b, 1, 0, m.th.Style(theme.Key), keys.String())
	x := c.Print(b, 1, 0, m.th.Style(theme.Accent), "⑂ fork? ")
	x = c.Print(b, x, 0, m.th.Style(theme.Strong), plain.Cut(plain.Line(o.Label), max(right-x-1, 0)))
	c.Print(b, x, 0, m.th.Style(theme.Muted), plain.Cut(" "+plain.Line(o.Why), max(right-x-1, 0)))
}

// drawStatus draws the last line: what is typed, what was told, or the keys; and the counts.
func (m *Model) drawStatus(b layout.Box) {
	c := &m.screen.canvas
	n := m.tree.Counts()
	right := c.PrintRight(b, 1, 0, m.th.Style(theme.Muted), m.sums(n))
	left := layout.Box{X: b.X + 1, Y: b.Y, W: right - 2, H: 1}
	if t := m.typing; t != nil {
		c.Print(left, 0, 0, m.th.Style(theme.Accent), "/")
		_, line := left.Left(2)
		t.field.Draw(c, line, m.th, m.th.Style(theme.Text), map[bool]string{true: "name, agent or state", false: "text"}[t.what == intent.Filter], true)
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
	if now := m.news.now; now != nil {
		c.Print(left, x, 0, m.th.Style(levelToken(now.level)), plain.Cut(plain.Line(now.text), left.W-x))
		return
	}
	if m.conn.listed || m.conn.late {
		m.drawKeys(left, x)
	}
}

// sums tells what all threads cost and how many of the agents that run are at work, as far as that is known.
func (m *Model) sums(n tree.Counts) string {
	said := ""
	if m.conn.listed {
		said = gauge.Cost(n.CostUSD) + "  "
	}
	switch {
	case m.conn.lost:
		said += "no server"
	case m.conn.listed && n.Running == 0:
		said += "0 running"
	case m.conn.listed:
		said += fmt.Sprintf("%d/%d working", n.Working, n.Running)
	}
	return said
}

// hint is a key of the status line with a short word for it.
type hint struct {
	action intent.Action
	word   string
}

// hints are the keys worth knowing where the person is.
func (m *Model) hints() []hint {
	if m.screen.area == areaMain {
		switch m.viewScope() {
		case intent.Timeline:
			return []hint{{intent.Open, "read"}, {intent.ForkAt, "fork here"}, {intent.Rewind, "set back"}, {intent.ShowDiff, "diff"}, {intent.Unfold, "responses"}, {intent.Leave, "threads"}}
		case intent.Turn:
			return []hint{{intent.Toggle, "unfold"}, {intent.FoldAll, "all"}, {intent.Search, "search"}, {intent.Older, "older"}, {intent.ForkAt, "fork"}, {intent.Leave, "back"}}
		case intent.Diff:
			return []hint{{intent.NextFile, "file"}, {intent.Base, "turns"}, {intent.Search, "search"}, {intent.Editor, "edit"}, {intent.Leave, "threads"}}
		default:
		}
		if m.views.now == viewTerminal {
			return []hint{{intent.Leave, "threads"}}
		}
		return []hint{{intent.NextView, "view"}, {intent.Leave, "threads"}, {intent.Help, "keys"}}
	}
	out := []hint{{intent.New, "new"}, {intent.Focus, "type"}, {intent.Help, "keys"}, {intent.Fork, "fork"}, {intent.NextView, "view"}, {intent.Filter, "filter"}, {intent.Quit, "quit"}}
	if m.tree.Selected() == nil {
		return []hint{{intent.New, "new"}, {intent.Archived, "archive"}, {intent.Help, "keys"}, {intent.Quit, "quit"}}
	}
	if m.tree.Counts().Interrupted > 0 {
		out = append([]hint{{intent.Resumes, "interrupted"}}, out...)
	}
	if len(m.undo) > 0 {
		out = append([]hint{{intent.Undo, "undo"}}, out...)
	}
	return out
}

// drawKeys draws the hints; a dialog has its own.
func (m *Model) drawKeys(b layout.Box, x int) {
	if m.dialogs.Open() {
		return
	}
	bound := m.keys.Bindings(m.scopes()...)
	var told []key.Binding
	for _, h := range m.hints() {
		if i := slices.IndexFunc(bound, func(k intent.Binding) bool { return k.Action == h.action }); i >= 0 {
			told = append(told, bound[i].As(h.word))
		}
	}
	keyhelp.Draw(&m.screen.canvas, b, x, m.th, told)
}
