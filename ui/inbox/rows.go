package inbox

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// rows is the open list. The item under the cursor is that of the selected thread, so that keys do what they do at the
// list of threads.
type rows struct {
	do    does
	items []thread.InboxItem
	win   list.Window
	at    layout.Box // where the rows were drawn
	short bool       // the row under the cursor does not say all
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
	was, has := r.item()
	at := r.win.At()
	r.items = items
	r.win.Fit(len(items), r.win.Rows(), nil)
	if has {
		for i, it := range items {
			if it.Thread == was.Thread && it.Kind == was.Kind && it.Server == was.Server {
				at = i
			}
		}
	}
	r.move(at)
}

// move moves the cursor, and the selection with it.
func (r *rows) move(at int) {
	r.win.Go(at)
	if it, ok := r.item(); ok && it.Thread != "" {
		r.do.choose(it.Thread)
	}
}

// item returns the item under the cursor.
func (r *rows) item() (thread.InboxItem, bool) {
	if at := r.win.At(); at < len(r.items) {
		return r.items[at], true
	}
	return thread.InboxItem{}, false
}

// Title returns the title.
func (r *rows) Title() string { return "inbox: " + plain.Count(len(r.items), "thing") + " open" }

// Scope returns the scope of its keys.
func (r *rows) Scope() intent.Scope { return intent.Items }

// Size returns the size that it needs.
func (r *rows) Size(w, h int) (int, int) { return min(w, 140), min(max(len(r.items), 3), h) }

// keys are what keys do with each kind of item.
var keys = map[thread.InboxKind][]intent.Action{
	thread.InboxQuestion:    {intent.Yes, intent.Always, intent.No, intent.Reply},
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
	if r.win.Handle(act) {
		r.move(r.win.At())
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
	if x < r.at.X || x >= r.at.X+r.at.W {
		return nil
	}
	if i, ok := r.win.Hit(y - r.at.Y); ok {
		r.move(i)
		return r.do.enter(r.items[i])
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
	r.at = b
	r.win.Fit(len(r.items), b.H, nil)
	if len(r.items) == 0 {
		c.Print(b, 0, 0, th.Style(theme.Muted), "Nothing is open")
		return
	}
	name := nameWidth
	if b.W < 80 {
		name = nameWidth - 6
	}
	for i, y := range r.win.Items() {
		it := r.items[i]
		mark := marks[it.Kind]
		row := b.Row(y)
		c.Print(row, 0, 0, th.Style(mark.tok), mark.glyph)
		if !it.Since.IsZero() {
			age := thread.Age(r.do.now().Sub(it.Since))
			c.Print(row, 2+max(ageWidth-plain.Width(age), 0), 0, th.Style(theme.Muted), age)
		}
		x := 2 + ageWidth + 2
		c.Print(row, x, 0, th.Style(theme.Text), plain.Cut(plain.Line(it.Label), name))
		x += name + 2
		if b.W >= 80 {
			c.Print(row, x, 0, th.Style(theme.Muted), mark.word)
			x += kindWidth
		}
		text := plain.First(it.Text)
		if text == "" && b.W < 80 {
			text = mark.word
		}
		tok := theme.Text
		if mark.tok == theme.Waiting { // an agent stands still until it is answered
			tok = mark.tok
		}
		shown := plain.Cut(text, b.W-x)
		c.Print(row, x, 0, th.Style(tok), shown)
		if i == r.win.At() {
			r.short = shown != plain.Line(it.Text)
		}
		if i == r.win.At() {
			c.Tint(row, th.Style(theme.SelectedFocus))
		}
	}
}

// cut reports whether the row under the cursor does not say all, as it was drawn last.
func (r *rows) cut() bool { return r.short }
