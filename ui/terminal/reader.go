package terminal

import (
	"fmt"

	"orchestrator/agent/vterm"
	"orchestrator/ui/paint"
	"orchestrator/ui/plain"
	"orchestrator/ui/terminal/reading"
)

// reader is scroll mode: a copy of the terminal that is read, while the terminal goes on behind it.
type reader struct {
	text *reading.Text
	end  int64 // where the screen began when the copy was made, in numbers that do not change when lines are renumbered

	matches *paint.Matches
	shown   shown // what matches were made for
}

// shown is what decides which matches are highlighted.
type shown struct {
	query string
	top   uint64
	at    size
}

// newReader copies a terminal, scrolled back by lines.
func newReader(s *screen, back int) *reader {
	r := &reader{}
	var thaw func() *vterm.Terminal
	s.View(func(t *vterm.Terminal) { thaw, r.end = t.Frozen(), s.settled() })
	r.text = reading.New(thaw(), back)
	return r
}

// where returns where the cursor is: the line, the match or the selection, and what has come since.
func (r *reader) where(s *screen) string {
	text := r.text
	line, of := text.Position()
	out := fmt.Sprintf("line %s of %s", plain.Thousands(line), plain.Thousands(of))
	if n := r.since(s); n > 0 {
		out += ", " + plain.Thousands(n) + " new"
	}
	switch query, on, hits, more := text.Found(); {
	case text.Selecting() != reading.None:
		out += " · " + text.Selecting().String()
	case query == "":
	case hits == 0:
		out += " · no match"
	default:
		plus := ""
		if more {
			plus = "+"
		}
		if on > 0 {
			out += fmt.Sprintf(" · match %s of %s%s", plain.Thousands(on), plain.Thousands(hits), plus)
		} else {
			out += " · " + plain.Thousands(hits) + plus + " matches"
		}
	}
	if _, target := text.Link(); target != "" {
		out += " · enter: " + target
	}
	if n := text.Count(); n > 0 {
		out += fmt.Sprintf(" · %d", n)
	}
	return out
}

// since returns how many lines have come since the copy was made.
func (r *reader) since(s *screen) (n int) {
	s.View(func(*vterm.Terminal) { n = int(s.settled() - r.end) })
	return max(n, 0)
}

// resize resizes the terminal and the copy. How many lines have come stays, however long the lines are now.
func (r *reader) resize(l *link, s size) {
	came := r.since(l.screen)
	l.resize(s, false)
	l.screen.View(func(*vterm.Terminal) { r.end = l.screen.settled() - int64(came) })
	r.text.Resize(s.cols, s.rows)
}

// pane returns what to paint.
func (r *reader) pane(b paint.Box) paint.Pane {
	query, _, _, _ := r.text.Found()
	if now := (shown{query, r.text.Window(), size{b.W, b.H}}); now != r.shown {
		r.shown, r.matches = now, matchesOf(r.text.Hits(), b.W)
	}
	at := r.text.At()
	return paint.Pane{Box: b, Source: r.text, Scrolled: true, Top: r.text.Window(),
		Selection: r.text.Selection(), Matches: r.matches, Caret: &at}
}

// matchesOf returns what to highlight, nil for nothing.
func matchesOf(hits []reading.Hit, cols int) *paint.Matches {
	if len(hits) == 0 {
		return nil
	}
	m := &paint.Matches{}
	for _, h := range hits {
		sel := vterm.Selection{From: h.From, To: h.To}
		for n := h.From.Line; n <= h.To.Line; n++ {
			if a, b, ok := sel.Columns(n, cols); ok {
				m.Add(n, a, b)
			}
		}
	}
	return m
}
