package vterm

import (
	"encoding/binary"
	"unicode/utf8"
)

// push appends a row.
func (h *history) push(t *Terminal, r *row) {
	h.scratch = t.pack(h.scratch[:0], r)
	h.pushPacked(h.scratch)
}

// pack appends the packed form of a row.
func (t *Terminal) pack(dst []byte, r *row) []byte {
	n := r.used
	flags := byte(0)
	if r.wrapped {
		flags = lineWrapped
	} else {
		for n > 0 && r.cells[n-1] == (blankCell(0)) {
			n--
		}
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(n))
	last := uint32(0)
	for i := 0; i < n; {
		c := r.cells[i]
		if c.width() == 0 { // cannot be: a right half without its left
			c = blankCell(c.style())
		}
		kind, style := runOf(c), c.style()
		head := byte(kind)
		if style == last {
			dst = append(dst, head|runSameStyle)
		} else {
			dst = appendStyle(dst, head, t.styles.vals[style])
			last = style
		}
		if kind >= runCluster {
			s := t.clusters.vals[c.ch&^clusterBit]
			dst = binary.AppendUvarint(dst, uint64(len(s)))
			dst = append(dst, s...)
			i += c.width()
			continue
		}
		end, w := i+1, c.width()
		if w == 2 {
			end++
		}
		for end < n && r.cells[end].attr == c.attr && r.cells[end].ch&clusterBit == 0 {
			end += w
		}
		dst = binary.AppendUvarint(dst, uint64((end-i)/w))
		for ; i < end; i += w {
			if ch := r.cells[i].ch; ch < utf8.RuneSelf {
				dst = append(dst, byte(ch))
			} else {
				dst = utf8.AppendRune(dst, rune(ch))
			}
		}
	}
	return dst
}

// unpack appends the cells of a packed line.
func (t *Terminal) unpack(dst []cell, line []byte) (cells []cell, wrapped bool) {
	u := newUnpacker(line)
	for u.next() {
		style := t.styleID(u.style)
		switch u.kind {
		case runCluster:
			dst = append(dst, cell{t.clusterID(u.text) | clusterBit, style | wide1})
		case runClusterW:
			dst = append(dst, cell{t.clusterID(u.text) | clusterBit, style | wide2}, cell{' ', style})
		default:
			for b := u.text; len(b) > 0; {
				r, n := utf8.DecodeRune(b)
				b = b[n:]
				if u.kind == runWide {
					dst = append(dst, cell{uint32(r), style | wide2}, cell{' ', style})
				} else {
					dst = append(dst, cell{uint32(r), style | wide1})
				}
			}
		}
	}
	return dst, u.wrapped
}
