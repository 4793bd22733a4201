package dialog

import (
	"github.com/sahilm/fuzzy"

	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Item is one thing to pick.
type Item struct {
	Title  string
	Note   string // at the right edge
	Detail string // a second row, where there is one
	Result Result
}

// Picker is a line to type into and a list that follows it.
type Picker struct {
	title string
	query field.Field
	all   []Item // to be matched here; nil where the root searches
	shown []Item
	at    int
	top   int
	page  int
	// Status stands where the list is empty.
	Status string
}

// NewPicker makes a picker over fixed items, matched loosely.
func NewPicker(title string, items []Item) *Picker {
	return &Picker{title: title, all: items, shown: items, Status: "nothing matches"}
}

// NewSearch makes a picker whose items the root looks up for each query.
func NewSearch(title string) *Picker {
	return &Picker{title: title, Status: "type to search"}
}

// Query returns what was typed.
func (p *Picker) Query() string { return p.query.Value() }

// Fill replaces what there is to pick from; the query and, as far as it is there, the selection stay.
func (p *Picker) Fill(items []Item, status string) {
	at := p.at
	p.all, p.Status = items, status
	p.match(p.Query())
	p.at = max(min(at, len(p.shown)-1), 0)
}

// SetItems replaces the list of a search.
func (p *Picker) SetItems(items []Item, status string) {
	p.shown, p.Status, p.at, p.top = items, status, 0, 0
}

// Title names it.
func (p *Picker) Title() string { return p.title }

// Scope says which keys it takes.
func (p *Picker) Scope() intent.Scope { return intent.Field }

// Size returns what it wants.
func (p *Picker) Size(w, h int) (int, int) { return min(w, 90), min(22, h) }

// Handle takes an intent.
func (p *Picker) Handle(in intent.Intent) Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.Accept:
		if p.at < len(p.shown) {
			return p.shown[p.at].Result
		}
		return nil
	case intent.Cancel:
		return Cancelled{}
	case intent.Up:
		p.move(-1)
	case intent.Down:
		p.move(1)
	case intent.PageUp:
		p.move(-max(p.page-1, 1))
	case intent.PageDown:
		p.move(max(p.page-1, 1))
	default:
		before := p.Query()
		p.query.Handle(in)
		if q := p.Query(); q != before && p.all != nil {
			p.match(q)
		}
	}
	return nil
}

func (p *Picker) move(n int) { p.at = max(min(p.at+n, len(p.shown)-1), 0) }

// source lets the matcher read items.
type source []Item

func (s source) String(i int) string { return s[i].Title }
func (s source) Len() int            { return len(s) }

func (p *Picker) match(q string) {
	p.at, p.top = 0, 0
	if q == "" {
		p.shown = p.all
		return
	}
	p.shown = nil
	for _, m := range fuzzy.FindFrom(q, source(p.all)) {
		p.shown = append(p.shown, p.all[m.Index])
	}
}

// Draw draws it.
func (p *Picker) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	line, list := b.Top(1)
	c.Print(line, 0, 0, th.Style(theme.Accent), "›")
	_, line = line.Left(2)
	p.query.Draw(c, line, th, th.Style(theme.Text), "", true)
	if len(p.shown) == 0 {
		c.Print(list, 2, 1, th.Style(theme.Muted), plain.Cut(plain.Line(p.Status), list.W-2))
		return
	}
	tall := 1
	for _, it := range p.shown {
		if it.Detail != "" {
			tall = 2
		}
	}
	p.page = max(list.H/tall, 1)
	p.top = max(min(p.top, p.at), p.at-p.page+1)
	for i := p.top; i < len(p.shown) && i < p.top+p.page; i++ {
		var row layout.Box
		row, list = list.Top(tall)
		p.drawItem(c, row, th, p.shown[i], i == p.at)
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
