package paint

import (
	"slices"
	"unicode/utf8"

	"orchestrator/agent/vterm"
	"orchestrator/ui/glyph"
	"orchestrator/ui/layout"
)

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
