package ui

import (
	"fmt"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/thread/filter"
	"orchestrator/ui/connection"
	"orchestrator/ui/foot"
	"orchestrator/ui/frame"
	"orchestrator/ui/headline"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/layout"
	"orchestrator/ui/money"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
	"orchestrator/ui/views"
)

// headlineOf returns what the first line of the screen says of a project.
func headlineOf(project, branch string, conn *connection.Feature, n tree.Counts, spent money.Head) headline.Facts {
	f := headline.Facts{Project: filepath.Base(project), Branch: branch}
	if conn.Lost() {
		f.Trouble = "no server"
	}
	if !conn.Listed() {
		return f
	}
	for _, g := range thread.Groups() {
		look, word := tree.LookOfGroup(g), string(g)
		switch {
		case g == thread.GroupNeedsYou && n.Groups[g] != 1:
			word = "need you"
		case g == thread.GroupQuiet:
			word = ""
		}
		f.Counts = append(f.Counts, headline.Count{Glyph: look.Glyph, N: n.Groups[g], Word: word, Tok: look.Style})
	}
	f.Money = headline.Money{Today: spent.Today, Window: spent.Window, Share: spent.Share, Budget: spent.Budget, Used: spent.Used}
	return f
}

// hints returns the most useful keys in the current context.
func (m *Model) hints() keyhelp.Hints {
	if m.screen.area == areaMain {
		if m.scrolling.On() {
			return m.scrolling.Hints()
		}
		if m.views.Now() == views.Terminal {
			return keyhelp.Hints{}.Add(intent.Leave, "back to threads").Add(intent.NextWait, "next waiting").Add(intent.LastSeen, "last thread")
		}
		return m.views.Hints()
	}
	if m.tree.Filtered() != "" && m.tree.Selected() == nil {
		return keyhelp.Hints{}.Add(intent.Filter, "filter").Add(intent.Leave, "all threads")
	}
	if m.several.Zoomed() {
		return keyhelp.Hints{}.Add(intent.Focus, "open").Add(intent.Zoom, "show all").Add(intent.NextWait, "next").Add(intent.Help, "keys")
	}
	if tree.Asked(m.tree) != nil {
		return keyhelp.Hints{}.Add(intent.Yes, "yes").Add(intent.No, "no").Add(intent.Focus, "graph").Add(intent.NextWait, "next").
			Add(intent.Inbox, "inbox").Add(intent.Help, "keys")
	}
	if m.tree.Selected() == nil {
		return keyhelp.Hints{}.Add(intent.New, "new").Add(intent.Archived, "archive").Add(intent.Help, "keys")
	}
	if n := len(m.tree.Marked()); n > 0 {
		return keyhelp.Hints{}.Add(intent.Mark, fmt.Sprintf("mark (%d)", n)).Add(intent.Send, "prompt for all").Add(intent.Read, "read").
			Add(intent.Menu, "menu").Add(intent.Leave, "take the marks")
	}
	out := keyhelp.Hints{}.Add(intent.Focus, "open")
	if m.tree.Filtered() != "" {
		out = out.Add(intent.Leave, "all threads")
	}
	if _, q := m.questions.Current(); q != nil {
		out = out.Add(intent.Yes, "approve").Add(intent.Always, "always").Add(intent.No, "deny").Add(intent.Reply, "reply")
	} else if m.offers.Current() != nil {
		for _, a := range []intent.Action{intent.TakeOffer, intent.DismissOffer, intent.OffersOff} {
			out = out.Add(a, m.offers.Word(a))
		}
	}
	if m.tree.Counts().Waiting > 0 {
		out = out.Add(intent.NextWait, "next")
	}
	out = out.Add(intent.New, "new")
	if m.tree.Counts().Interrupted > 0 {
		out = out.Add(intent.Resumes, "interrupted")
	}
	if m.host.Undo.Len() > 0 {
		out = out.Add(intent.Undo, "undo")
	}
	return out.Add(intent.Help, "keys").Add(intent.Menu, "menu").Add(intent.Fork, "fork").Add(intent.Send, "prompt").
		Add(intent.NextView, "view").Add(intent.Inbox, "inbox").Add(intent.Filter, "filter")
}

// drawFoot draws the last lines: a notice, and below it the keys or what is being typed. Dialogs have their own keys.
func (m *Model) drawFoot(b frame.Boxes) {
	c := &m.screen.canvas
	m.screen.hints = nil
	_, q := m.questions.Current()
	foot.Notices(c, b, m.th, &m.host.Notices, m.dialogs.Open(), q != nil)
	t := m.statusInput
	switch {
	case t != nil:
	case m.dialogs.Open() || !m.conn.Known():
		return
	default:
		m.screen.hints = keyhelp.Foot(c, b.Keys, m.th, m.hints(), m.keys.Bindings(m.scopes()...))
		return
	}
	line := b.Keys.Shrink(1, 0)
	mark := "/"
	if t.what == intent.SearchBack {
		mark = "?"
	}
	c.Print(line, 0, 0, m.th.Style(theme.Accent), mark)
	_, line = line.Left(2)
	hint := "text"
	if t.what == intent.Filter {
		hint = filter.Hint
		line = drawFound(c, line, m.th, m.tree)
	}
	t.field.Draw(c, line, m.th, m.th.Style(theme.Text), hint, true)
}

// drawFound says beside a filter that is being typed how many threads it selects, or what is wrong in it, and returns
// the room that is left.
func drawFound(c *layout.Canvas, line layout.Box, th *theme.Theme, t *tree.Tree) layout.Box {
	if t.Filtered() == "" {
		return line
	}
	n, of, wrong := t.Found()
	text, tok := fmt.Sprintf("%d of %d", n, of), theme.Muted
	if wrong != nil {
		text, tok = plain.Cut(plain.Line(wrong.Error()), line.W*2/3), theme.Warn
	}
	line, right := line.Left(line.W - plain.Width(text) - 1)
	c.Print(right, 1, 0, th.Style(tok), text)
	return line
}
