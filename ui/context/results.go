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

// row is a result with its texts, cleaned.
type row struct {
	result             thread.ContextResult
	tool, file, status string
}

func rowOf(r thread.ContextResult) row {
	out := row{result: r, tool: plain.Line(start(r.Tool)), file: plain.Line(end(r.File))}
	if out.tool == "" {
		out.tool = "(no name)"
	}
	if r.Input {
		out.tool += " input"
	}
	out.status = plain.Line(start(r.Says()))
	return out
}

// holds reports whether a row has all of some words in lower case.
func (r row) holds(words []string) bool {
	text := strings.ToLower(r.tool + " " + r.file + " " + r.status)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// results is the list of results, oldest first, with a filter. Its cursor stays on a result while others come and go,
// and at the end while it is there.
type results struct {
	all   []row
	shown []int // of all
	query string
	win   list.Window
	begun bool // it had results before
}

// set replaces the results.
func (l *results) set(all []thread.ContextResult) {
	at, last := l.selected(), l.win.At() >= len(l.shown)-1
	l.all = make([]row, len(all))
	for i, r := range all {
		l.all[i] = rowOf(r)
	}
	l.match()
	if at == nil || last || !l.begun {
		l.win.Go(len(l.shown) - 1)
		l.begun = l.begun || len(all) > 0
		return
	}
	l.find(at)
}

// match applies the filter.
func (l *results) match() {
	words := strings.Fields(strings.ToLower(l.query))
	l.shown = l.shown[:0]
	for i, r := range l.all {
		if r.holds(words) {
			l.shown = append(l.shown, i)
		}
	}
	l.win.Fit(len(l.shown), l.win.Rows(), nil)
}

// find moves the cursor to a result, if it is shown.
func (l *results) find(r *thread.ContextResult) {
	for i, n := range l.shown {
		if x := l.all[n].result; x.ID == r.ID && x.Input == r.Input {
			l.win.Go(i)
			return
		}
	}
}

// filter shows only the results with all words of a text.
func (l *results) filter(text string) {
	if text == l.query {
		return
	}
	at := l.selected()
	l.query = text
	l.match()
	l.win.Go(len(l.shown) - 1)
	if at != nil {
		l.find(at)
	}
}

// selected returns a copy of the result under the cursor, or nil.
func (l *results) selected() *thread.ContextResult {
	if at := l.win.At(); at < len(l.shown) {
		r := l.all[l.shown[at]].result
		return &r
	}
	return nil
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
	masked, pinned := 0, 0
	for _, r := range l.all {
		if r.result.Masked {
			masked++
		}
		if r.result.Pinned {
			pinned++
		}
	}
	out := []styled.Span{{Text: "Results", Tok: theme.Heading},
		{Text: fmt.Sprintf(" %d", len(l.all)), Tok: theme.Muted}}
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
		drawRow(c, inside.Row(y), th, r)
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

// mark returns the mark of a result.
func (r row) mark() (string, theme.Token) {
	switch {
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
func drawRow(c *layout.Canvas, b layout.Box, th *theme.Theme, r row) {
	name, more := th.Style(theme.Text), th.Style(theme.Muted)
	if r.result.Masked {
		name = more
	}
	at := columnsOf(b.W)
	mark, tok := r.mark()
	c.Print(b, 0, 0, th.Style(tok), mark)
	number := fmt.Sprint(r.result.Turn)
	c.Print(b, max(at.turn-plain.Width(number), 2), 0, more, number)
	tokens := thread.Tokens(max(r.result.Tokens, 0))
	right := at.tokens - plain.Width(tokens)
	c.Print(b, right, 0, name, tokens)
	if r.file == "" {
		c.Print(b, at.tool, 0, name, plain.Cut(r.tool, right-at.tool-1))
	} else {
		c.Print(b, at.tool, 0, name, plain.Cut(r.tool, at.file-at.tool-1))
		c.Print(b, at.file, 0, more, plain.CutLeft(r.file, right-at.file-1))
	}
	c.Print(b, at.status, 0, more, plain.Cut(r.status, b.W-at.status))
}
