package inbox

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// rows is the open list. The item under the cursor is that of the selected thread, so that keys do what they do at the
// list of threads.
type rows struct {
	do    does
	list  dialog.Rows[thread.InboxItem]
	short bool // the row under the cursor does not say all
	// problem is why it is not known which servers wait to be accepted; "" if it is.
	problem string
}

// does is what rows lead to.
type does struct {
	now    func() time.Time
	choose func(thread.ID) // selects a thread
	enter  func(thread.InboxItem) dialog.Result
	act    func(thread.InboxItem, intent.Action) dialog.Result
	leave  func() tea.Cmd
}

// fill replaces the items. The cursor stays on its item, or in its place once that is gone.
func (r *rows) fill(items []thread.InboxItem) {
	r.list.Set(items, func(a, b thread.InboxItem) bool {
		return a.Thread == b.Thread && a.Kind == b.Kind && a.Server == b.Server && (a.Node == nil || b.Node != nil && a.Name == b.Name)
	})
	r.moved()
}

// moved moves the selection with the cursor.
func (r *rows) moved() {
	if it, ok := r.item(); ok && it.Thread != "" {
		r.do.choose(it.Thread)
	}
}

// item returns the item under the cursor.
func (r *rows) item() (thread.InboxItem, bool) { return r.list.Item() }

// Title returns the title.
func (r *rows) Title() string { return "inbox: " + plain.Count(r.list.Len(), "thing") + " open" }

// Scope returns the scope of its keys.
func (r *rows) Scope() intent.Scope { return intent.Items }

// Size returns the size that it needs.
func (r *rows) Size(w, h int) (int, int) {
	return min(w, 140), min(max(r.list.Len()+map[bool]int{true: 1}[r.problem != ""], 3), h)
}

// keys are what keys do with each kind of item.
var keys = map[thread.InboxKind][]intent.Action{
	thread.InboxQuestion:    {intent.Yes, intent.Always, intent.No, intent.Reply},
	thread.InboxTask:        {intent.Yes, intent.No},
	thread.InboxServer:      {intent.Yes},
	thread.InboxOffer:       {intent.Yes, intent.No},
	thread.InboxPrompt:      {intent.Prompts},
	thread.InboxStuck:       {intent.Prompts, intent.Read},
	thread.InboxLimited:     {intent.Prompts},
	thread.InboxInterrupted: {intent.Yes},
	thread.InboxUnread:      {intent.Read},
}

// Hints returns the keys that do something with the item under the cursor.
func (r *rows) Hints(layout.Box) []intent.Action {
	it, ok := r.item()
	if !ok {
		return []intent.Action{intent.Cancel}
	}
	return append(append([]intent.Action{}, keys[it.Kind]...), intent.Open, intent.Cancel)
}

// Label returns the words for keys.
func (r *rows) Label(a intent.Action) string {
	it, _ := r.item()
	switch {
	case a == intent.Yes && it.Kind == thread.InboxTask:
		return "yes"
	case a == intent.No && it.Kind == thread.InboxTask:
		return "no"
	case a == intent.Yes && it.Kind == thread.InboxServer:
		return "review"
	case a == intent.Yes && it.Kind == thread.InboxOffer:
		return "accept"
	case a == intent.Yes && it.Kind == thread.InboxInterrupted:
		return "resume"
	case a == intent.No && it.Kind == thread.InboxOffer:
		return "dismiss"
	}
	return map[intent.Action]string{
		intent.Yes: "approve", intent.Always: "always", intent.No: "deny", intent.Reply: "reply", intent.Prompts: "prompts",
		intent.Read: "mark as read",
	}[a]
}

// Handle handles an intent.
func (r *rows) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	if act == intent.Cancel {
		return host.Do(r.do.leave)
	}
	if r.list.Handle(act) {
		r.moved()
		return nil
	}
	it, ok := r.item()
	if !ok {
		return nil
	}
	if act == intent.Open {
		return r.do.enter(it)
	}
	return r.do.act(it, act)
}

// Click opens an item.
func (r *rows) Click(x, y int) dialog.Result {
	if hit, _ := r.list.Click(x, y); hit {
		r.moved()
		it, _ := r.item()
		return r.do.enter(it)
	}
	return nil
}

// marks are the signs of the kinds and their styles.
var marks = map[thread.InboxKind]struct {
	glyph string
	tok   theme.Token
	word  string
}{
	thread.InboxQuestion:    {"◆", theme.Waiting, "asks"},
	thread.InboxTask:        {"◆", theme.Waiting, "task asks"},
	thread.InboxSignIn:      {"◆", theme.Waiting, "sign in"},
	thread.InboxMerge:       {"≠", theme.Warn, "merge"},
	thread.InboxStuck:       {"▲", theme.Bad, "gave up"},
	thread.InboxPrompt:      {"p", theme.Waiting, "prompt"},
	thread.InboxServer:      {"?", theme.Warn, "server"},
	thread.InboxInterrupted: {"■", theme.Warn, "interrupted"},
	thread.InboxLimited:     {"▲", theme.Bad, "waits"},
	thread.InboxOffer:       {"◇", theme.News, "offer"},
	thread.InboxUnread:      {"●", theme.News, "to read"},
}

// The columns of a row, in cells: the age, the name, the kind.
const (
	ageWidth  = 4
	nameWidth = 22
	kindWidth = 12
)

// Draw draws the rows.
func (r *rows) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	if r.problem != "" {
		var last layout.Box
		b, last = b.Bottom(1)
		c.Print(last, 0, 0, th.Style(theme.Bad), plain.Cut("MCP servers could not be loaded: "+plain.Line(r.problem), last.W))
	}
	if r.list.Len() == 0 {
		c.Print(b, 0, 0, th.Style(theme.Muted), "Nothing is open")
	}
	at, _ := r.item()
	r.list.Draw(c, b, th, func(row layout.Box, it thread.InboxItem) {
		if cut := r.row(c, row, th, it); it == at {
			r.short = cut
		}
	})
}

// row draws a row: its mark, age, name, kind and text. It reports whether the text was cut.
func (r *rows) row(c *layout.Canvas, row layout.Box, th *theme.Theme, it thread.InboxItem) bool {
	name := nameWidth
	if row.W < 80 {
		name = nameWidth - 6
	}
	mark := marks[it.Kind]
	c.Print(row, 0, 0, th.Style(mark.tok), mark.glyph)
	if !it.Since.IsZero() {
		age := thread.Age(r.do.now().Sub(it.Since))
		c.Print(row, 2+max(ageWidth-plain.Width(age), 0), 0, th.Style(theme.Muted), age)
	}
	x := 2 + ageWidth + 2
	c.Print(row, x, 0, th.Style(theme.Text), plain.Cut(plain.Line(it.Label), name))
	x += name + 2
	if row.W >= 80 {
		c.Print(row, x, 0, th.Style(theme.Muted), mark.word)
		x += kindWidth
	}
	text := plain.First(it.Text)
	if text == "" && row.W < 80 {
		text = mark.word
	}
	tok := theme.Text
	if mark.tok == theme.Waiting { // an agent stands still until it is answered
		tok = mark.tok
	}
	shown := plain.Cut(text, row.W-x)
	c.Print(row, x, 0, th.Style(tok), shown)
	return shown != plain.Line(it.Text)
}

// cut reports whether the row under the cursor does not say all, as it was drawn last.
func (r *rows) cut() bool { return r.short }
