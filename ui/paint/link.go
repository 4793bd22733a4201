package paint

import (
	"strconv"

	"orchestrator/agent/vterm"
	"orchestrator/ui/weblink"

	"github.com/charmbracelet/colorprofile"
)

// enter begins or ends a link at cell i of the row: one that leads to a page, and whose text does not name another. What
// the terminal gets is made here, not the program's bytes.
func (p *rowPainter) enter(i int) {
	p.leave()
	n := p.cells[i].Style.Link
	p.link.from = n
	if n == 0 || p.profile <= colorprofile.NoTTY {
		return
	}
	target := weblink.Target(p.term.Link(n))
	if target == "" || weblink.Misleads(p.words(i), target) {
		return
	}
	p.link.open = true
	p.out = append(p.out, "\x1b]8;id=o"...)
	p.out = strconv.AppendUint(p.out, uint64(n), 10)
	p.out = append(p.out, ';')
	p.out = append(p.out, target...)
	p.out = append(p.out, "\x1b\\"...)
}

// leave ends the link.
func (p *rowPainter) leave() {
	if p.link.open {
		p.out = append(p.out, "\x1b]8;;\x1b\\"...)
	}
	p.link = openLink{}
}

// words returns the text of the link that begins at cell i, with the words that it is a part of.
func (p *rowPainter) words(i int) string {
	from, to := i, i
	for from > 0 && !space(&p.cells[from-1]) {
		from--
	}
	for n := p.cells[i].Style.Link; to < len(p.cells) && (p.cells[to].Style.Link == n || !space(&p.cells[to])); {
		to++
	}
	var text []byte
	for k := from; k < to; k++ {
		if c := &p.cells[k]; c.Width > 0 {
			text = c.AppendText(text)
		}
	}
	return string(text)
}

func space(c *vterm.Cell) bool { return c.Cluster == "" && c.Rune <= ' ' && c.Width > 0 }
