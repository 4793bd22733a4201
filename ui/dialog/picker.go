package dialog

import (
	"slices"

	"github.com/sahilm/fuzzy"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
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
	query Filter
	all   []Item // matched here; nil if the feature searches
	shown Rows[Item]
	// Status is shown if the list is empty.
	Status string
	// Past are texts that were picked by before, the oldest first: up above the first row brings them back.
	Past []string
	back int // how far back the text is from
}

// NewPicker returns a picker with fuzzy matching of fixed items.
func NewPicker(title string, items []Item) *Picker {
	p := &Picker{title: title, query: Filter{Mark: "›"}, all: items, Status: "No matches"}
	p.show(items)
	return p
}

// NewSearch returns a picker whose items are searched for each query.
func NewSearch(title string) *Picker {
	return &Picker{title: title, query: Filter{Mark: "›"}, Status: "Type to search"}
}

// Query returns the text.
func (p *Picker) Query() string { return p.query.Value() }

// Fill replaces the items. It keeps the query and, if possible, the selection.
func (p *Picker) Fill(items []Item, status string) {
	at := p.shown.At()
	p.all, p.Status = items, status
	p.match(p.Query())
	p.shown.Go(at)
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
			p.shown.Handle(act)
		}
	default:
		if p.query.Handle(in) && p.all != nil {
			p.match(p.Query())
		}
	}
	return nil
}

// Click selects an item. A click on the selected one chooses it.
func (p *Picker) Click(x, y int) Result {
	if _, again := p.shown.Click(x, y); again {
		it, _ := p.Picked()
		return it.Result
	}
	return nil
}

// Picked returns the item under the cursor.
func (p *Picker) Picked() (Item, bool) { return p.shown.Item() }

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
	p.query.Set(it.Fill)
	if p.all != nil {
		p.match(it.Fill)
	}
}

// recall brings back a text of before: up in the first row the one before, down a later one as long as none is changed.
func (p *Picker) recall(act intent.Action) bool {
	back := p.back
	switch {
	case act == intent.Up && p.shown.At() == 0 && back < len(p.Past):
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
	p.query.Set(text)
	if p.all != nil {
		p.match(text)
	}
	return true
}

// show replaces the list and goes to its start.
func (p *Picker) show(items []Item) {
	p.shown.Height = 1
	if slices.ContainsFunc(items, func(it Item) bool { return it.Detail != "" }) {
		p.shown.Height = 2
	}
	p.shown.Set(items, nil)
	p.shown.Go(0)
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
	box := p.query.Draw(c, b, th)
	if p.shown.Len() == 0 {
		c.Print(box, 2, 1, th.Style(theme.Muted), plain.Cut(plain.Line(p.Status), box.W-2))
		return
	}
	p.shown.Draw(c, box, th, func(row layout.Box, it Item) {
		right := c.PrintRight(row, 0, 0, th.Style(theme.Key), plain.Line(it.Note))
		c.Print(row, 0, 0, th.Style(theme.Text), plain.Cut(plain.Line(it.Title), right-1))
		if it.Detail != "" {
			c.Print(row, 2, 1, th.Style(theme.Muted), plain.Cut(plain.Line(it.Detail), row.W-2))
		}
	})
}
