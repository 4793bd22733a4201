package eventlog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// panel is the dialog with the list.
type panel struct {
	log   *log
	visit func(thread.ID) tea.Cmd
	query field.Field
	all   []row // newest first
	shown []row
	win   list.Window
	box   layout.Box // where the rows were drawn
}

// fill takes over what happened. The row under the cursor stays there, unless it is the newest: that one is followed.
func (p *panel) fill() {
	var at row
	follow := p.win.At() == 0
	if !follow && p.win.At() < len(p.shown) {
		at = p.shown[p.win.At()]
	}
	p.all = p.log.rows()
	p.filter()
	if follow {
		p.win.Go(0)
		return
	}
	for i, r := range p.shown {
		if r == at {
			p.win.Go(i)
			return
		}
	}
}

// filter shows what the filter leaves.
func (p *panel) filter() {
	words := filterOf(p.query.Value())
	p.shown = nil
	for _, r := range p.all {
		if r.matches(words) {
			p.shown = append(p.shown, r)
		}
	}
	p.fit(p.win.Rows())
}

func (p *panel) fit(rows int) { p.win.Fit(len(p.shown), rows, func(int) int { return 1 }) }

// Title returns the title.
func (p *panel) Title() string { return "events" }

// Scope returns the scope of its keys.
func (p *panel) Scope() intent.Scope { return intent.Field }

// Size returns the size that it needs.
func (p *panel) Size(w, h int) (int, int) { return min(w, 120), h }

// Label returns the word for a key.
func (p *panel) Label(a intent.Action) string {
	return map[intent.Action]string{intent.Accept: "go there", intent.Cancel: "close"}[a]
}

// Handle handles an intent.
func (p *panel) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.Accept:
		return p.chosen()
	case intent.Cancel:
		return dialog.Cancelled{}
	case intent.Up, intent.Down, intent.PageUp, intent.PageDown:
		p.win.Handle(act)
	default:
		before := p.query.Value()
		p.query.Handle(in)
		if p.query.Value() != before {
			p.filter()
			p.win.Go(0)
		}
	}
	return nil
}

// chosen goes to the thread of the row under the cursor, if it has one.
func (p *panel) chosen() dialog.Result {
	if p.win.At() >= len(p.shown) || p.shown[p.win.At()].thread == "" {
		return nil
	}
	id := p.shown[p.win.At()].thread
	return host.Do(func() tea.Cmd { return p.visit(id) })
}

// Click chooses a row.
func (p *panel) Click(x, y int) dialog.Result {
	if x < p.box.X || x >= p.box.X+p.box.W || y < p.box.Y || y >= p.box.Y+p.box.H {
		return nil
	}
	if i, hit := p.win.Hit(y - p.box.Y); hit {
		p.win.Go(i)
		return p.chosen()
	}
	return nil
}

// Draw draws it.
func (p *panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	line, box := b.Top(1)
	c.Print(line, 0, 0, th.Style(theme.Accent), "/")
	_, line = line.Left(2)
	p.query.Draw(c, line, th, th.Style(theme.Text), "thread, kind or word; !word leaves out", true)
	if why := p.log.err; why != "" {
		line, box = box.Top(1)
		c.Print(line, 0, 0, th.Style(theme.Bad), plain.Cut("The log could not be read: "+plain.Line(why), line.W))
	}
	p.box = box
	if len(p.shown) == 0 {
		text := "Nothing happened yet"
		if len(p.all) > 0 {
			text = "No matches"
		} else if !p.log.asked && p.log.err == "" {
			text = "…"
		}
		c.Print(box, 2, 1, th.Style(theme.Muted), text)
		return
	}
	p.fit(box.H)
	today, width := p.today(), len(time.TimeOnly)
	if p.shown[len(p.shown)-1].at.Before(today) && box.W >= roomForDays {
		width = len(withDay)
	}
	for i, y := range p.win.Items() {
		p.row(c, layout.Box{X: box.X, Y: box.Y + y, W: box.W, H: 1}, th, p.shown[i], today, width)
		if i == p.win.At() {
			c.Tint(layout.Box{X: box.X, Y: box.Y + y, W: box.W, H: 1}, th.Style(theme.SelectedFocus))
		}
	}
}

// today is when today began.
func (p *panel) today() time.Time {
	y, m, d := p.log.clock().Local().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.Local)
}

// withDay is how the time of an earlier day is shown where there is room, which has roomForDays cells; elsewhere, its day.
const (
	withDay     = "Jan 02 15:04"
	roomForDays = 76
)

// Widths of the columns: a name gets a third of what the times leave, within limits.
const leastName, mostName = 12, 26

// row draws a row: when, what kind, who, what.
func (p *panel) row(c *layout.Canvas, b layout.Box, th *theme.Theme, r row, today time.Time, width int) {
	format := time.TimeOnly
	if r.at.Before(today) {
		if format = withDay; width < len(withDay) {
			format = "Jan 02"
		}
	}
	at := r.at.Local().Format(format)
	c.Print(b, width-len(at), 0, th.Style(theme.Muted), at)
	x := width + 2
	x = c.Print(b, x, 0, th.Style(r.tok), r.mark) + 1
	name := min(max((b.W-x)/4, leastName), mostName)
	if r.who != "" {
		c.Print(b, x, 0, th.Style(theme.Text), plain.Cut(r.who, name))
		x += name + 2
	}
	c.Print(b, x, 0, th.Style(r.text), plain.Cut(r.words, max(b.W-x, 0)))
}
