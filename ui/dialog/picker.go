package dialog

import (
	"slices"

	"github.com/sahilm/fuzzy"

	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Item is an item to pick.
type Item struct {
	Title  string
	Note   string // at the right edge
	Detail string // a second row, if not empty
	Result Result // nil completes the text
	// Fill is what the text is completed to, if not empty.
	Fill string
	// Acts is set if picking it does more than to show something: a sentence must not.
	Acts bool
}

// Picker is a text field with a list that is filtered by it.
type Picker struct {
	title string
	query field.Field
	all   []Item // matched here; nil if the feature searches
	shown []Item
	win   list.Window
	tall  int        // rows per item
	box   layout.Box // where the list was drawn
	// Status is shown if the list is empty.
	Status string
	// Past are texts that were picked by before, the oldest first: up above the first row brings them back.
	Past []string
	back int // how far back the text is from
}

// NewPicker returns a picker with fuzzy matching of fixed items.
func NewPicker(title string, items []Item) *Picker {
	p := &Picker{title: title, all: items, Status: "No matches"}
	p.show(items)
	return p
}

// NewSearch returns a picker whose items are searched for each query.
func NewSearch(title string) *Picker {
	return &Picker{title: title, Status: "Type to search"}
}

// Query returns the text.
func (p *Picker) Query() string { return p.query.Value() }

// Fill replaces the items. It keeps the query and, if possible, the selection.
func (p *Picker) Fill(items []Item, status string) {
	at := p.win.At()
	p.all, p.Status = items, status
	p.match(p.Query())
	p.win.Go(at)
}

// SetItems replaces the results of a search.
func (p *Picker) SetItems(items []Item, status string) {
	p.Status = status
	p.show(items)
}

// Title returns the title.
func (p *Picker) Title() string { return p.title }

// Scope returns the scope of its keys.
func (p *Picker) Scope() intent.Scope { return intent.Field }

// Size returns the size that it needs.
func (p *Picker) Size(w, h int) (int, int) { return min(w, 90), min(22, h) }

// Hints returns its keys.
func (p *Picker) Hints(layout.Box) []intent.Action {
	if it, ok := p.Picked(); ok && it.Fill != "" {
		return []intent.Action{intent.Accept, intent.NextField, intent.Cancel}
	}
	return []intent.Action{intent.Accept, intent.Cancel}
}

// Handle handles an intent.
func (p *Picker) Handle(in intent.Intent) Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.Accept:
		it, ok := p.Picked()
		if ok && it.Result == nil {
			p.complete(it)
			return nil
		}
		if ok {
			return it.Result
		}
		return nil
	case intent.NextField:
		if it, ok := p.Picked(); ok {
			p.complete(it)
		}
		return nil
	case intent.Cancel:
		return Cancelled{}
	case intent.Up, intent.Down, intent.PageUp, intent.PageDown:
		if !p.recall(act) {
			p.win.Handle(act)
		}
	default:
		before := p.Query()
		p.query.Handle(in)
		if q := p.Query(); q != before && p.all != nil {
			p.match(q)
		}
	}
	return nil
}

// Click selects an item. A click on the selected one chooses it.
func (p *Picker) Click(x, y int) Result {
	if !p.box.Contains(x, y) {
		return nil
	}
	i, ok := p.win.Hit(y - p.box.Y)
	switch {
	case !ok:
	case i == p.win.At():
		return p.shown[i].Result
	default:
		p.win.Go(i)
	}
	return nil
}

// Picked returns the item under the cursor.
func (p *Picker) Picked() (Item, bool) {
	if at := p.win.At(); at < len(p.shown) {
		return p.shown[at], true
	}
	return Item{}, false
}

// Acts reports whether what is picked does more than to show something; no picker picks nothing.
func (p *Picker) Acts() bool {
	if p == nil {
		return false
	}
	it, ok := p.Picked()
	return ok && it.Acts
}

// complete completes the text to that of an item.
func (p *Picker) complete(it Item) {
	if it.Fill == "" || it.Fill == p.Query() {
		return
	}
	p.query = field.New(it.Fill)
	if p.all != nil {
		p.match(it.Fill)
	}
}

// recall brings back a text of before: up in the first row the one before, down a later one as long as none is changed.
func (p *Picker) recall(act intent.Action) bool {
	back := p.back
	switch {
	case act == intent.Up && p.win.At() == 0 && back < len(p.Past):
		back++
	case act == intent.Down && back > 0 && p.Query() == p.Past[len(p.Past)-back]:
		back--
	default:
		return false
	}
	p.back = back
	text := ""
	if back > 0 {
		text = p.Past[len(p.Past)-back]
	}
	p.query = field.New(text)
	if p.all != nil {
		p.match(text)
	}
	return true
}

// show replaces the list and goes to its start.
func (p *Picker) show(items []Item) {
	p.shown, p.tall = items, 1
	if slices.ContainsFunc(items, func(it Item) bool { return it.Detail != "" }) {
		p.tall = 2
	}
	p.fit(p.win.Rows())
	p.win.Go(0)
}

func (p *Picker) fit(rows int) {
	p.win.Fit(len(p.shown), rows, func(int) int { return p.tall })
}

// source adapts items to the matcher.
type source []Item

func (s source) String(i int) string { return s[i].Title }
func (s source) Len() int            { return len(s) }

func (p *Picker) match(q string) {
	if q == "" {
		p.show(p.all)
		return
	}
	var found []Item
	for _, m := range fuzzy.FindFrom(q, source(p.all)) {
		found = append(found, p.all[m.Index])
	}
	p.show(found)
}

// Draw draws the dialog.
func (p *Picker) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	line, box := b.Top(1)
	p.box = box
	c.Print(line, 0, 0, th.Style(theme.Accent), "›")
	_, line = line.Left(2)
	p.query.Draw(c, line, th, th.Style(theme.Text), "", true)
	if len(p.shown) == 0 {
		c.Print(box, 2, 1, th.Style(theme.Muted), plain.Cut(plain.Line(p.Status), box.W-2))
		return
	}
	p.fit(box.H)
	for i, y := range p.win.Items() {
		row := layout.Box{X: box.X, Y: box.Y + y, W: box.W, H: min(p.tall, box.H-y)}
		p.drawItem(c, row, th, p.shown[i], i == p.win.At())
	}
}

func (p *Picker) drawItem(c *layout.Canvas, row layout.Box, th *theme.Theme, it Item, selected bool) {
	right := c.PrintRight(row, 0, 0, th.Style(theme.Key), plain.Line(it.Note))
	c.Print(row, 0, 0, th.Style(theme.Text), plain.Cut(plain.Line(it.Title), right-1))
	if it.Detail != "" {
		c.Print(row, 2, 1, th.Style(theme.Muted), plain.Cut(plain.Line(it.Detail), row.W-2))
	}
	if selected {
		c.Tint(row.Row(0), th.Style(theme.SelectedFocus))
	}
}
