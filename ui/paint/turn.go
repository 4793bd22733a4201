package paint

import (
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"orchestrator/agent/vterm"
	"orchestrator/ui/glyph"
	"orchestrator/ui/layout"
)

// turnTime is how long a frame of a spinner lasts.
const turnTime = 250 * time.Millisecond

// spinners are marks in what Bubble Tea draws that turn without it. It always draws their first frame: for a picture of its
// own it would compose, parse and compare the whole screen four times a second.
type spinners struct {
	cells []spinner
	frame int

	// next has a lock of its own, the innermost one: Turn does not wait for the terminal.
	next struct {
		sync.Mutex
		want  []layout.Point
		set   bool // want is not adopted yet
		timer *time.Timer
	}
}

// spinner is a mark.
type spinner struct {
	at    layout.Point
	gone  bool       // it turns no more
	drawn bool       // the terminal shows frame, which was painted when the chrome's row had generation gen
	was   vterm.Cell // what the chrome has in its place then
	frame int
	gen   uint64
}

// Turn says where marks turn: in cells in which Bubble Tea draws the first frame of a spinner. A cell in which it has drawn
// something else is left alone.
func (w *Writer) Turn(places []layout.Point) {
	n := &w.spinners.next
	n.Lock()
	defer n.Unlock()
	if slices.Equal(n.want, places) {
		return
	}
	n.want, n.set = slices.Clone(places), true
	if n.timer == nil {
		n.timer = w.later(turnTime, w.turn)
	}
}

// turn shows the next frame.
func (w *Writer) turn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.adopt()
	w.spinners.frame++
	if w.closed {
		w.spinners.cells = nil
	}
	w.frame(nil)
	n := &w.spinners.next
	n.Lock()
	defer n.Unlock()
	n.timer = nil
	if len(w.spinners.cells) > 0 || n.set {
		n.timer = w.later(turnTime, w.turn)
	}
}

// adopt takes over where marks turn.
func (s *spinners) adopt() {
	s.next.Lock()
	defer s.next.Unlock()
	if !s.next.set {
		return
	}
	s.next.set = false
	for i := range s.cells {
		s.cells[i].gone = !slices.Contains(s.next.want, s.cells[i].at)
	}
	for _, at := range s.next.want {
		if !slices.ContainsFunc(s.cells, func(c spinner) bool { return c.at == at }) {
			s.cells = append(s.cells, spinner{at: at})
		}
	}
}

// forget makes the next frame draw every mark.
func (s *spinners) forget() {
	for i := range s.cells {
		s.cells[i].drawn = false
	}
}

// drawSpinners draws the marks that the terminal does not show as they are now, and what Bubble Tea believes to be in the
// place of those that turn no more.
func (w *Writer) drawSpinners() {
	p, all := &w.painter, w.spinners.cells
	cols, rows := w.chrome.Size()
	p.term, p.look = w.chrome, look{}
	for i := range all {
		s := &all[i]
		if s.at.X < 0 || s.at.Y < 0 || s.at.X >= cols || s.at.Y >= rows {
			s.drawn = false
			continue
		}
		gen, frame := w.chrome.RowGeneration(s.at.Y), w.spinners.frame
		if s.drawn && !s.gone && s.gen == gen && s.frame == frame {
			continue
		}
		p.cells = w.chrome.Row(p.cells[:0], s.at.Y)
		cell, was := p.cells[s.at.X], s.drawn
		s.drawn = w.isMark(&cell) && !s.gone
		switch {
		case s.drawn:
			s.was, s.gen, s.frame = cell, gen, frame
			cell.Rune, _ = utf8.DecodeRuneInString(p.glyphs.Shown(frameOf(frame), 1))
			p.cell(s.at, cell)
		case was && w.isMark(&cell):
			p.cell(s.at, cell)
		}
	}
	p.term = nil
	w.spinners.cells = slices.DeleteFunc(all, func(s spinner) bool { return s.gone })
}

// still appends what shows all marks as Bubble Tea believes them to be: its next output moves them.
func (w *Writer) still(out []byte) []byte {
	p := &w.painter
	p.out, p.profile, p.styled, p.term, p.look = p.out[:0], w.profile, false, w.chrome, look{}
	for i := range w.spinners.cells {
		if s := &w.spinners.cells[i]; s.drawn {
			p.cell(s.at, s.was)
			s.drawn = false
		}
	}
	p.term = nil
	return w.besides(out, p.out)
}

// cell draws one cell.
func (p *rowPainter) cell(at layout.Point, c vterm.Cell) {
	p.cells = append(p.cells[:0], c)
	p.row(at.X, at.Y, 1, 0, 0, nil)
}

// frameOf returns a frame of the spinners.
func frameOf(n int) string {
	const size = len("◐")
	at := n * size % len(glyph.Spinner)
	return glyph.Spinner[at : at+size]
}

// isMark reports whether Bubble Tea has drawn a spinner in a cell.
func (w *Writer) isMark(c *vterm.Cell) bool {
	return string(c.AppendText(nil)) == w.painter.glyphs.Shown(frameOf(0), 1)
}
