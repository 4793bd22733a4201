package tree

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// View is what the list is drawn with.
type View struct {
	Focus bool // the list has the keyboard
	Now   time.Time
	// Next, Peek and Fold are the keys that the titles of groups name; "" names none.
	Next, Peek, Fold string
}

// columns are where the parts of a row stand; those at 0 are left out.
type columns struct {
	gauge, share, age int // in the first row, from the left
	nameEnd           int // the name ends before it
	cost, line        int // in the second row: the end of the cost, and where it says what the thread does
}

const (
	gaugeWidth = 10
	shareWidth = 4 // 100%
	ageWidth   = 3 // 59m, 47h
	nameAt     = 3
	leastCost  = 7 // what a cost takes at least, with the blanks before it: $3.10
	secondAt   = 4
)

// columnsOf returns the columns of a list of a width.
func columnsOf(w int) columns {
	c := columns{age: w - 1 - ageWidth}
	c.nameEnd = c.age - 1
	if w >= 24 {
		c.share = c.age - 2 - shareWidth
		c.nameEnd = c.share - 1
	}
	if w >= 40 {
		c.gauge = c.share - 1 - gaugeWidth
		c.nameEnd = c.gauge - 2
		c.cost = min(secondAt+23+(w-46)/3, 48)
		c.line = c.cost + 2
	}
	return c
}

// wide is the width from which on a thread's only row also says what it does.
const wide = 56

// painter draws into the box of a row.
type painter struct {
	c   *layout.Canvas
	th  *theme.Theme
	b   layout.Box
	col columns
}

func (p painter) put(x, y int, tok theme.Token, text string) int {
	return p.c.Print(p.b, x, y, p.th.Style(tok), text)
}

// part is a short text with its style.
type part struct {
	tok  theme.Token
	text string
}

func width(parts []part) int {
	w := 0
	for _, m := range parts {
		w += plain.Width(m.text) + 1
	}
	return w
}

// parts draws them side by side, each after a blank.
func (p painter) parts(x, y int, parts []part) int {
	for _, m := range parts {
		x = p.put(x+1, y, m.tok, m.text)
	}
	return x
}

func (t *Tree) drawRow(p painter, r Row, v View) {
	s := t.threads[r.ID]
	look := LookOf(s)
	if t.Lost {
		look = LookOfLost(s)
	}
	if r.ID == t.selected {
		tok := theme.Muted
		if v.Focus {
			tok = theme.Accent
		}
		for y := range p.b.H {
			p.put(0, y, tok, "▌")
		}
	}
	t.drawMark(p, s, look)
	if t.marked[r.ID] {
		p.put(0, 0, theme.Accent, "+")
	}
	quiet := t.cards[r.ID].place.Group == thread.GroupQuiet
	t.drawNumbers(p, s, quiet, v)
	name := theme.Text
	if quiet {
		name = theme.Muted
	}
	marks := append(folds(r), t.marks(s)...)
	if p.b.H > 1 {
		marks = folds(r)
	}
	x := p.put(nameAt, 0, theme.Muted, r.Guide)
	end := p.col.nameEnd
	if quiet && p.col.gauge > 0 {
		end = p.col.share - 2 // it has no gauge
	}
	says := p.b.H == 1 && p.b.W >= wide && !t.Lost
	if says {
		end = nameAt + (p.b.W-nameAt)/3
	}
	x = p.put(x, 0, name, t.name(s.ID, max(end-x-width(marks), 8)))
	x = p.parts(x, 0, marks)
	if of := t.of(r, s); of != "" && end-x > len(" of ")+3 {
		x = p.put(x+1, 0, theme.Muted, plain.Cut(of, end-x-1))
	}
	switch {
	case says:
		x = max(end, x) + 1
		p.put(x, 0, lineToken(s), plain.Cut(plain.Line(s.Line()), p.col.nameEnd-x))
	case p.b.H > 1:
		t.drawSecond(p, s)
	}
}

// drawMark draws a thread's mark.
func (t *Tree) drawMark(p painter, s *thread.Status, look Look) {
	if t.works(s) {
		p.c.Spin(p.b, 1, 0, p.th.Style(look.Style))
		return
	}
	p.put(1, 0, look.Style, look.Glyph)
}

// drawNumbers draws the columns at the right: how full its context is, and for how long it has been as it is.
func (t *Tree) drawNumbers(p painter, s *thread.Status, quiet bool, v View) {
	if p.col.gauge > 0 && !quiet {
		gauge.Thin(p.c, layout.Box{X: p.b.X + p.col.gauge, Y: p.b.Y, W: gaugeWidth, H: 1}, p.th, s.Gauge)
	}
	if p.col.share > 0 && s.Gauge.Window > 0 {
		tok := theme.Muted
		if s.Gauge.Share() >= 60 {
			tok = gauge.Token(s.Gauge.Band())
		}
		p.put(p.col.share, 0, tok, fmt.Sprintf("%*s", shareWidth, thread.Percent(min(s.Gauge.Share(), 999))))
	}
	if since := t.cards[s.ID].place.Since; !since.IsZero() && !t.Lost {
		p.put(p.col.age, 0, theme.Muted, fmt.Sprintf("%*s", ageWidth, thread.Age(v.Now.Sub(since))))
	}
}

// drawSecond draws the second row: agent, model, cost, and what it asks or does.
func (t *Tree) drawSecond(p painter, s *thread.Status) {
	marks := t.marks(s)
	end := p.b.W - 1 - width(marks)
	p.parts(end, 1, marks)
	line := plain.Line(s.Line())
	if t.Lost {
		line = ""
	}
	asks := t.cards[s.ID].place.Group == thread.GroupNeedsYou
	at := p.col.line
	if asks && plain.Width(line) > end-at {
		at = 0 // what it asks is more important than who asks
	}
	who := who(s)
	if at > 0 {
		cost := s.Money()
		from := p.col.cost - plain.Width(cost)
		p.put(secondAt, 1, theme.Muted, plain.Cut(who, p.col.cost-secondAt-max(plain.Width(cost)+2, leastCost)))
		p.put(from, 1, theme.Muted, cost)
	} else if at = secondAt; line == "" {
		p.put(at, 1, theme.Muted, plain.Cut(who, end-at))
	}
	p.put(at, 1, lineToken(s), plain.Cut(line, end-at))
}

// who says which agent works in a thread: with its model, or as which execution.
func who(s *thread.Status) string {
	if s.Runs() {
		return plain.Line(s.Run.Execution) + " " + plain.Line(s.Agent) + calls(s.Run)
	}
	return strings.TrimSpace(plain.Line(s.Agent) + " " + Model(s))
}

// calls is how many calls of tools a run that works has made, of how many: " 3/20".
func calls(r *thread.RunStatus) string {
	if !r.Working() || r.MaxCalls == 0 || r.Calls == 0 {
		return ""
	}
	return fmt.Sprintf(" %d/%d", r.Calls, r.MaxCalls)
}

// lineToken returns the style of what a thread asks or does.
func lineToken(s *thread.Status) theme.Token {
	switch s.Group() {
	case thread.GroupNeedsYou:
		return theme.Waiting
	case thread.GroupQuiet:
		return theme.Muted
	default:
		return theme.Text
	}
}

// date is what models' names end in.
var date = pattern.Lazy(`[-@]20\d{6}$|-latest$`)

// Model returns the short name of a thread's model: without the maker's prefix and the date.
func Model(s *thread.Status) string {
	return ShortModel(s.Agent, cmp.Or(s.Gauge.Model, s.Model))
}

// ShortModel is Model for the names of an agent and a model.
func ShortModel(agent, model string) string {
	model = plain.Line(model)
	model = model[strings.LastIndexByte(model, '/')+1:]
	return strings.TrimPrefix(date().ReplaceAllString(model, ""), plain.Line(agent)+"-")
}

// Called returns a thread's name as the list shows it.
func (t *Tree) Called(s *thread.Status) string {
	t.sort()
	if _, listed := t.cards[s.ID]; !listed {
		return plain.Line(s.TypedName())
	}
	return t.name(s.ID, nameMost)
}

// nameMost is how many cells of a name are shown outside of the list.
const nameMost = 80

// name returns a thread's name in at most w cells, with a number if an older thread has the same one.
func (t *Tree) name(id thread.ID, w int) string {
	number := ""
	if n := t.same[id]; n > 0 {
		number = fmt.Sprintf(" %d", n)
	}
	return plain.Cut(t.cards[id].name, w-len(number)) + number
}

// of names the thread that a fork was made from, if no tree line leads to it.
func (t *Tree) of(r Row, s *thread.Status) string {
	if p := t.threads[s.Under()]; p != nil && r.Guide == "" {
		return "of " + t.cards[p.ID].name
	}
	return ""
}

// folds returns the marks of what a row hides.
func folds(r Row) []part {
	if r.Hides == 0 {
		return nil
	}
	all := []part{{theme.Muted, fmt.Sprintf("+%d", r.Hides)}}
	if r.Louds > 0 {
		look := LookOfGroup(r.Loud)
		all = append(all, part{look.Style, fmt.Sprintf("%s%d", look.Glyph, r.Louds)})
	}
	return all
}

// marks returns the marks of what else is to be known of a thread.
func (t *Tree) marks(s *thread.Status) []part {
	var all []part
	add := func(on bool, tok theme.Token, text string) {
		if on {
			all = append(all, part{tok, text})
		}
	}
	with := len(t.sharers(s.Thread))
	_, cut := s.Unanswered()
	add(s.Pinned, theme.Muted, "*")
	add(with > 0, theme.Muted, fmt.Sprintf("&%d", with))
	add(s.Queued > 0 && !s.Runs(), theme.Text, fmt.Sprintf("›%d", s.Queued))
	add(cut, theme.Waiting, "p")
	add(s.Merging != "", theme.Waiting, "≠")
	return all
}
