package reading

import "orchestrator/agent/vterm"

// Select starts a selection at the cursor. The same kind again ends it, another one changes it.
func (r *Text) Select(k Kind) {
	switch r.kind {
	case k:
		k = None
	case None:
		r.anchor = r.at
	default:
	}
	r.kind = k
	r.goTo(r.at)
}

// Selecting returns the kind of the selection.
func (r *Text) Selecting() Kind { return r.kind }

// Clear ends the selection, and reports whether there was one.
func (r *Text) Clear() bool {
	was := r.kind != None
	r.kind = None
	r.goTo(r.at)
	return was
}

// Selection returns what is selected, or nil.
func (r *Text) Selection() *vterm.Selection {
	s := &vterm.Selection{From: r.anchor, To: r.at}
	switch r.kind {
	case None:
		return nil
	case Block:
		s.Block = true
	case Lines:
		if s.To.Before(s.From) {
			s.From, s.To = s.To, s.From
		}
		cols, _ := r.term.Size()
		s.From.X, s.To.X = 0, cols-1
	case Cells:
		r.whole(s)
	}
	return s
}

// whole extends a selection over both halves of wide characters.
func (r *Text) whole(s *vterm.Selection) {
	to := &s.To
	if s.To.Before(s.From) {
		to = &s.From
	}
	if cells := r.read(to.Line).cells; to.X+1 < len(cells) && cells[to.X+1].Width == 0 {
		to.X++
	}
}

// Selected returns the text of the selection.
func (r *Text) Selected() string {
	if s := r.Selection(); s != nil {
		return r.term.SelectedText(*s)
	}
	return ""
}

// SelectOutput selects the block of lines that the cursor is in; the cursor goes to its end.
func (r *Text) SelectOutput() {
	from := r.at.Line
	for from > r.first() && r.empty(from) { // between two blocks: the one above
		from--
	}
	to := from
	for from > r.first() && !r.begins(from) {
		from--
	}
	for last := r.last(); to < last && !r.empty(to+1); {
		to++
	}
	r.kind = Lines
	r.anchor = vterm.Point{Line: from}
	r.move(vterm.Point{Line: to, X: r.end(to)})
}

// Press starts a selection with the mouse: of characters, with a double click of a word, with a triple click of a line.
func (r *Text) Press(p vterm.Point, clicks int) {
	r.kind = None
	r.move(p)
	switch s := (vterm.Selection{From: r.at, To: r.at}); clicks {
	case 1:
		return
	case 2:
		s = r.term.Word(r.at)
		r.kind, r.anchor = Cells, s.From
		r.move(s.To)
	default:
		s = r.term.Paragraph(r.at)
		r.kind, r.anchor = Lines, s.From
		r.move(s.To)
	}
}

// Drag extends the selection that a press began.
func (r *Text) Drag(p vterm.Point, block bool) {
	if r.kind == None {
		if p == r.at {
			return
		}
		r.kind, r.anchor = Cells, r.at
		if block {
			r.kind = Block
		}
	}
	r.move(p)
}
