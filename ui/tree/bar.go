package tree

import (
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Bar is how the title bar of a thread is drawn.
type Bar struct {
	Name  theme.Token // of its name
	Width int         // of the column of its name; 0 for as much as the name needs
	Marks bool        // the bar stands for the selected thread, and is marked as in the list
	Now   time.Time
	Note  styled.Span // stands in place of what it asks or does; without text, nothing does
}

// DrawBar draws a thread in one row: its mark, its name, what it asks or does, how full its context is, and for how long
// it has been as it is.
func (t *Tree) DrawBar(c *layout.Canvas, b layout.Box, th *theme.Theme, s *thread.Status, v Bar) {
	if b.Empty() {
		return
	}
	look := LookOf(s)
	if t.Lost {
		look = LookOfLost(s)
	}
	p := painter{c: c, th: th, b: b, col: columnsOf(b.W)}
	if v.Marks {
		p.put(0, 0, theme.Accent, "▌")
	}
	t.drawMark(p, s, look)
	t.drawNumbers(p, s, true, View{Now: v.Now})
	end := p.col.age - 1
	if p.col.share > 0 && s.Gauge.Window > 0 {
		end = p.col.share - 1
	}
	room := max(end-nameAt, 8)
	if v.Width > 0 {
		room = min(room, v.Width)
	} else {
		room = max(room/2, 8)
	}
	x := p.put(nameAt, 0, v.Name, t.name(s.ID, room)) + 2
	if v.Width > 0 {
		x = nameAt + v.Width + 2
	}
	switch {
	case end <= x:
	case v.Note.Text != "":
		p.put(x, 0, v.Note.Tok, plain.Cut(plain.Line(v.Note.Text), end-x))
	case !t.Lost:
		p.put(x, 0, lineToken(s), plain.Cut(plain.Line(s.Line()), end-x))
	}
}

// Loudest returns at most n threads that are not archived, in the order of their groups and places, without those that
// are left out.
func (t *Tree) Loudest(n int, omit func(*thread.Status) bool) []*thread.Status {
	var best []*thread.Status
	for _, id := range t.arrived {
		s := t.threads[id]
		if !s.Archived.IsZero() || omit(s) {
			continue
		}
		place := t.cards[id].place
		at, _ := slices.BinarySearchFunc(best, place, func(o *thread.Status, p thread.Place) int {
			if t.cards[o.ID].place.Compare(p) <= 0 {
				return -1
			}
			return 1
		})
		if at < n {
			best = slices.Insert(best, at, s)
			best = best[:min(len(best), n)]
		}
	}
	return best
}
