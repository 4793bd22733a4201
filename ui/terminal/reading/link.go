package reading

import (
	"orchestrator/agent/vterm"
	"orchestrator/ui/weblink"
)

// Link returns the page that the text at the cursor leads to, and the text that says so: a link of the program, or an
// address that is written there. It returns "" if there is none.
func (r *Text) Link() (text, target string) {
	m := matcher{exact: true}
	n := r.at.Line
	for n > r.first() && r.term.Wrapped(n-1) {
		n--
	}
	_, rows := r.term.Size()
	m.collect(r.term, n, r.screen()+uint64(rows))
	at := -1
	for i, p := range m.at {
		if p == r.at {
			at = i
			break
		}
	}
	cells := r.read(r.at.Line).cells
	if at < 0 || r.at.X >= len(cells) {
		return "", ""
	}
	link := cells[r.at.X].Style.Link
	if link == 0 {
		target = weblink.In(string(m.text), at)
		return target, target
	}
	from, to := at, at
	for from > 0 && r.linkAt(m.at[from-1]) == link {
		from--
	}
	for to < len(m.text) && r.linkAt(m.at[to]) == link {
		to++
	}
	return string(m.text[from:to]), weblink.Target(r.term.Link(link))
}

func (r *Text) linkAt(p vterm.Point) uint16 {
	if cells := r.read(p.Line).cells; p.X < len(cells) {
		return cells[p.X].Style.Link
	}
	return 0
}
