package eventlog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// panel is the dialog with the list.
type panel struct {
	log   *log
	visit func(thread.ID) tea.Cmd
	query dialog.Filter
	all   []row // newest first
	shown dialog.Rows[row]
	stale bool // more has happened since it was filled
}

// newPanel returns the dialog.
func newPanel(l *log, visit func(thread.ID) tea.Cmd) *panel {
	return &panel{log: l, visit: visit, stale: true, query: dialog.Filter{Mark: "/", Hint: "thread, kind or word; !word leaves out"}}
}

// fill takes over what happened. The row under the cursor stays there, unless it is the newest: that one is followed.
func (p *panel) fill() {
	if !p.stale {
		return
	}
	p.stale = false
	p.all = p.log.rows()
	if p.shown.At() == 0 {
		p.filter(nil)
		return
	}
	p.filter(func(a, b row) bool { return a == b })
}

// filter shows what the filter leaves.
func (p *panel) filter(same func(a, b row) bool) {
	words := filterOf(p.query.Value())
	var left []row
	for _, r := range p.all {
		if r.matches(words) {
			left = append(left, r)
		}
	}
	p.shown.Set(left, same)
}

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
	p.fill()
	act, _ := in.(intent.Action)
	switch act {
	case intent.Accept:
		return p.chosen()
	case intent.Cancel:
		return dialog.Cancelled{}
	case intent.Up, intent.Down, intent.PageUp, intent.PageDown:
		p.shown.Handle(act)
	default:
		if p.query.Handle(in) {
			p.filter(nil)
			p.shown.Go(0)
		}
	}
	return nil
}

// chosen goes to the thread of the row under the cursor, if it has one.
func (p *panel) chosen() dialog.Result {
	if r, _ := p.shown.Item(); r.thread != "" {
		return host.Do(func() tea.Cmd { return p.visit(r.thread) })
	}
	return nil
}

// Click chooses a row.
func (p *panel) Click(x, y int) dialog.Result {
	if hit, _ := p.shown.Click(x, y); hit {
		return p.chosen()
	}
	return nil
}

// Draw draws it.
func (p *panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	p.fill()
	box := p.query.Draw(c, b, th)
	if why := p.log.err; why != "" {
		var line layout.Box
		line, box = box.Top(1)
		c.Print(line, 0, 0, th.Style(theme.Bad), plain.Cut("The log could not be read: "+plain.Line(why), line.W))
	}
	if p.shown.Len() == 0 {
		text := "Nothing happened yet"
		if len(p.all) > 0 {
			text = "No matches"
		} else if !p.log.asked && p.log.err == "" {
			text = "…"
		}
		c.Print(box, 2, 1, th.Style(theme.Muted), text)
		return
	}
	today, width := p.today(), len(time.TimeOnly)
	if all := p.shown.Items(); all[len(all)-1].at.Before(today) && box.W >= roomForDays {
		width = len(withDay)
	}
	p.shown.Draw(c, box, th, func(b layout.Box, r row) { p.row(c, b, th, r, today, width) })
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
