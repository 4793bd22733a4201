package context

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// results is the list of results, oldest first, with a filter. Before them stands what the agent sends before a word is
// said, folded. Its cursor stays on a row while others come and go, and at the end while it is there.
type results struct {
	all    []row
	shown  []int // of all
	query  string
	win    list.Window
	begun  bool // it had results before
	opened bool // the parts of the base are shown
}

// set replaces what is shown.
func (l *results) set(report *thread.ContextReport) {
	at, last := l.at(), l.win.At() >= len(l.shown)-1
	l.all = append(baseRows(report, l.opened), make([]row, 0, len(report.Results))...)
	for _, r := range report.Results {
		l.all = append(l.all, rowOf(r))
	}
	l.match()
	if at == nil || last && !at.ofBase() || !l.begun {
		l.win.Go(len(l.shown) - 1)
		l.begun = l.begun || len(report.Results) > 0
		return
	}
	l.find(at)
}

// match applies the filter.
func (l *results) match() {
	words := strings.Fields(strings.ToLower(l.query))
	l.shown = l.shown[:0]
	for i, r := range l.all {
		if r.holds(words) && (r.part == nil || l.opened || len(words) > 0) {
			l.shown = append(l.shown, i)
		}
	}
	l.win.Fit(len(l.shown), l.win.Rows(), nil)
}

// find moves the cursor to a row, if it is shown.
func (l *results) find(r *row) {
	for i, n := range l.shown {
		if l.all[n].same(r) {
			l.win.Go(i)
			return
		}
	}
}

// filter shows only the rows with all words of a text.
func (l *results) filter(text string) {
	if text == l.query {
		return
	}
	at := l.at()
	l.query = text
	l.match()
	l.win.Go(len(l.shown) - 1)
	if at != nil {
		l.find(at)
	}
}

// at returns a copy of the row under the cursor, or nil.
func (l *results) at() *row {
	if at := l.win.At(); at < len(l.shown) {
		r := l.all[l.shown[at]]
		return &r
	}
	return nil
}

// selected returns a copy of the result under the cursor, or nil.
func (l *results) selected() *thread.ContextResult {
	r := l.at()
	if r == nil || r.ofBase() {
		return nil
	}
	return &r.result
}

// fold shows the parts of the base, or only what they have together, if the cursor is on it.
func (l *results) fold() bool {
	r := l.at()
	if r == nil || !r.base {
		return false
	}
	l.opened = !l.opened
	for i := range l.all {
		l.all[i].open = l.opened
	}
	l.match()
	l.find(r)
	return true
}

// click moves the cursor to the result in a row of the window.
func (l *results) click(y int) {
	if i, ok := l.win.Hit(y); ok {
		l.win.Go(i)
	}
}

func (l *results) move(n int) { l.win.Move(n) }

func (l *results) handle(a intent.Action) bool { return l.win.Handle(a) }

// heading returns the line above the list.
func (l *results) heading() []styled.Span {
	results, masked, pinned := 0, 0, 0
	for _, r := range l.all {
		if !r.ofBase() {
			results++
		}
		if r.result.Masked {
			masked++
		}
		if r.result.Pinned {
			pinned++
		}
	}
	out := []styled.Span{{Text: "Results", Tok: theme.Heading},
		{Text: fmt.Sprintf(" %d", results), Tok: theme.Muted}}
	if masked > 0 {
		out = append(out, styled.Span{Text: fmt.Sprintf(", %d masked", masked), Tok: theme.Muted})
	}
	if pinned > 0 {
		out = append(out, styled.Span{Text: fmt.Sprintf(", %d pinned", pinned), Tok: theme.Muted})
	}
	if l.query != "" {
		out = append(out, styled.Span{Text: " /" + plain.Line(l.query), Tok: theme.Accent},
			styled.Span{Text: fmt.Sprintf(" %d", len(l.shown)), Tok: theme.Muted})
	}
	return append(out, styled.Span{Text: " "})
}

// draw draws the visible rows.
func (l *results) draw(c *layout.Canvas, b layout.Box, th *theme.Theme, focus bool) {
	if b.Empty() {
		return
	}
	if len(l.shown) == 0 {
		text := "No results of tools yet"
		if l.query != "" {
			text = "No matches"
		}
		c.Print(b, 0, 0, th.Style(theme.Muted), plain.Cut(text, b.W))
		return
	}
	l.win.Fit(len(l.shown), b.H, nil)
	inside := b
	inside.W-- // for the scroll bar
	for i, y := range l.win.Items() {
		r := l.all[l.shown[i]]
		drawRow(c, inside.Row(y), th, &r)
		if i == l.win.At() {
			tok := theme.Selected
			if focus {
				tok = theme.SelectedFocus
			}
			c.Tint(inside.Row(y), th.Style(tok))
		}
	}
	if y, more := l.win.Thumb(); more {
		c.Print(b, b.W-1, y, th.Style(theme.Muted), "▐")
	}
}

// mark returns the mark of a row.
func (r *row) mark() (string, theme.Token) {
	switch {
	case r.base && r.open:
		return "▾", theme.Accent
	case r.base:
		return "▸", theme.Accent
	case r.part != nil:
		return " ", theme.Muted
	case r.result.Masked:
		return masked, theme.Muted
	case r.result.Pinned:
		return "◆", theme.Accent
	case r.result.Kept == "":
		return "·", theme.Muted
	default:
		return " ", theme.Muted
	}
}

// columns are where the columns of a list begin, in cells.
type columns struct{ turn, tool, file, tokens, status int }

// columnsOf divides a width; tokens are to the left of their place.
func columnsOf(w int) columns {
	status := w - min(max(w/4, 15), 40)
	return columns{turn: 6, tool: 7, file: 7 + min(max(w/6, 11), 26), tokens: status - 1, status: status + 1}
}

// head draws the names of the columns.
func (l *results) head(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	at, st := columnsOf(b.W-1), th.Style(theme.Muted)
	c.Print(b, at.turn-1, 0, st, "#")
	c.Print(b, at.tool, 0, st, "tool")
	c.Print(b, at.file, 0, st, "file")
	c.Print(b, at.tokens-len("tokens"), 0, st, "tokens")
	c.Print(b, at.status, 0, st, "state")
}

// drawRow draws a result: its mark, the request that had it first, the tool, the file, the tokens, and why it is as it
// is.
func drawRow(c *layout.Canvas, b layout.Box, th *theme.Theme, r *row) {
	name, more := th.Style(theme.Text), th.Style(theme.Muted)
	if r.result.Masked {
		name = more
	}
	at := columnsOf(b.W)
	mark, tok := r.mark()
	c.Print(b, 0, 0, th.Style(tok), mark)
	if !r.ofBase() {
		number := fmt.Sprint(r.result.Turn)
		c.Print(b, max(at.turn-plain.Width(number), 2), 0, more, number)
	}
	tokens := thread.Tokens(max(r.tokens, 0))
	right := at.tokens - plain.Width(tokens)
	c.Print(b, right, 0, name, tokens)
	if r.file == "" {
		c.Print(b, at.tool, 0, name, plain.Cut(r.tool, right-at.tool-1))
	} else {
		c.Print(b, at.tool, 0, name, plain.Cut(r.tool, at.file-at.tool-1))
		c.Print(b, at.file, 0, more, plain.CutLeft(r.file, right-at.file-1))
	}
	status := r.status
	if r.brief != "" && plain.Width(status) > b.W-at.status {
		status = r.brief
	}
	c.Print(b, at.status, 0, more, plain.Cut(status, b.W-at.status))
}
