package vterm

import (
	"encoding/binary"
	"unicode/utf8"
)

// pageSize is the size of a page of history. A longer line has a page of its own.
const pageSize = 64 << 10

// history keeps lines that left the screen as bytes, in pages, oldest first. A line is: a byte of flags, the
// number of cells, then runs of one style and one kind of character. A run is a header byte, the style
// where it differs from the run before, a count and the text; so a plain line costs its length and five
// bytes. Styles are written out, not numbered: history never holds an interned style or cluster.
type history struct {
	pages    []*page
	count    int // lines
	bytes    int // capacity of all pages
	maxLines int
	maxBytes int
	spare    []byte // buffer of a dropped page, to be used again
	scratch  []byte
}

type page struct {
	buf  []byte
	offs []uint32 // start of each line
	skip int      // lines at the front already dropped
}

const lineWrapped = 1

// Kinds of characters of a run, the low bits of its header.
const (
	runNarrow    = iota // count characters of one cell each
	runWide             // count characters of two cells
	runCluster          // one grapheme of count bytes, one cell
	runClusterW         // one grapheme of count bytes, two cells
	runKind      = 3
	runSameStyle = 1 << 2
	runAttr      = 1 << 3
	runFg        = 1 << 4
	runBg        = 1 << 5
	runUl        = 1 << 6
	runLink      = 1 << 7
)

func (h *history) clear() {
	h.pages, h.count, h.bytes, h.spare = nil, 0, 0, nil
}

// push appends a row.
func (h *history) push(t *Terminal, r *row) {
	h.scratch = t.pack(h.scratch[:0], r)
	h.pushPacked(h.scratch)
}

func (h *history) pushPacked(line []byte) {
	if h.maxLines == 0 {
		return
	}
	p := h.room(len(line))
	p.offs = append(p.offs, uint32(len(p.buf)))
	p.buf = append(p.buf, line...)
	h.count++
	for h.count > h.maxLines || h.bytes > h.maxBytes && len(h.pages) > 1 {
		h.dropOldest()
	}
}

// room gives a page with place for n bytes. The first page of a history grows, so that a short one is small.
func (h *history) room(n int) *page {
	if k := len(h.pages); k > 0 {
		p := h.pages[k-1]
		if len(p.buf)+n <= cap(p.buf) {
			return p
		}
		if len(p.buf)+n <= pageSize {
			grown := make([]byte, len(p.buf), min(pageSize, max(2*cap(p.buf), len(p.buf)+n)))
			copy(grown, p.buf)
			h.bytes += cap(grown) - cap(p.buf)
			p.buf = grown
			return p
		}
	}
	p := &page{}
	switch {
	case n > pageSize:
		p.buf = make([]byte, 0, n)
	case h.spare != nil:
		p.buf, h.spare = h.spare[:0], nil
	case len(h.pages) == 0:
		p.buf = make([]byte, 0, max(1024, n))
	default:
		p.buf = make([]byte, 0, pageSize)
	}
	h.bytes += cap(p.buf)
	h.pages = append(h.pages, p)
	return p
}

func (h *history) dropOldest() {
	p := h.pages[0]
	p.skip++
	h.count--
	if p.skip < len(p.offs) {
		return
	}
	if len(h.pages) == 1 {
		p.buf, p.offs, p.skip = p.buf[:0], p.offs[:0], 0
		return
	}
	h.bytes -= cap(p.buf)
	if cap(p.buf) == pageSize {
		h.spare = p.buf
	}
	h.pages[0] = nil
	h.pages = h.pages[1:]
}

// line gives packed line i, 0 the oldest. It holds until the next change of the history.
func (h *history) line(i int) []byte {
	for _, p := range h.pages {
		n := len(p.offs) - p.skip
		if i < n {
			i += p.skip
			if i+1 < len(p.offs) {
				return p.buf[p.offs[i]:p.offs[i+1]]
			}
			return p.buf[p.offs[i]:]
		}
		i -= n
	}
	return nil
}

// each calls f for every line from the oldest.
func (h *history) each(f func(line []byte)) {
	for _, p := range h.pages {
		for i := p.skip; i < len(p.offs); i++ {
			end := len(p.buf)
			if i+1 < len(p.offs) {
				end = int(p.offs[i+1])
			}
			f(p.buf[p.offs[i]:end])
		}
	}
}

// eachStyle calls f for the style of every run.
func (h *history) eachStyle(f func(Style)) {
	h.each(func(line []byte) {
		u := newUnpacker(line)
		for u.next() {
			f(u.style)
		}
	})
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

func runOf(c cell) int {
	kind := runNarrow
	if c.ch&clusterBit != 0 {
		kind = runCluster
	}
	if c.width() == 2 {
		kind++
	}
	return kind
}

func appendStyle(dst []byte, head byte, s Style) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if s.Attr != 0 {
		head |= runAttr
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s.Attr))
	}
	for i, c := range [3]Color{s.Fg, s.Bg, s.Ul} {
		if c.IsDefault() {
			continue
		}
		head |= runFg << i
		if n, ok := c.Palette(); ok {
			dst = append(dst, 0, n)
		} else {
			dst = append(dst, 1, byte(c>>16), byte(c>>8), byte(c))
		}
	}
	if s.Link != 0 {
		head |= runLink
		dst = binary.LittleEndian.AppendUint16(dst, s.Link)
	}
	dst[at] = head
	return dst
}

// unpacker walks the runs of a packed line.
type unpacker struct {
	b       []byte
	wrapped bool
	cells   int

	style Style
	kind  int
	count int
	text  []byte
}

func newUnpacker(line []byte) unpacker {
	u := unpacker{}
	if len(line) == 0 {
		return u
	}
	u.wrapped = line[0]&lineWrapped != 0
	n, k := binary.Uvarint(line[1:])
	u.cells = int(n)
	u.b = line[1+k:]
	return u
}

// next reads a run. The lines are our own, so they are well formed.
func (u *unpacker) next() bool {
	if len(u.b) == 0 {
		return false
	}
	head := u.b[0]
	u.b = u.b[1:]
	u.kind = int(head & runKind)
	if head&runSameStyle == 0 {
		u.readStyle(head)
	}
	n, k := binary.Uvarint(u.b)
	u.count = int(n)
	u.b = u.b[k:]
	size := u.count
	if u.kind < runCluster {
		size = runeBytes(u.b, u.count)
	}
	u.text, u.b = u.b[:size], u.b[size:]
	return true
}

// runeBytes gives the length of the first n code points.
func runeBytes(b []byte, n int) int {
	i := 0
	for ; n > 0; n-- {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, k := utf8.DecodeRune(b[i:])
		i += k
	}
	return i
}

func (u *unpacker) readStyle(head byte) {
	s := Style{}
	if head&runAttr != 0 {
		s.Attr = Attr(binary.LittleEndian.Uint16(u.b))
		u.b = u.b[2:]
	}
	for i, c := range [3]*Color{&s.Fg, &s.Bg, &s.Ul} {
		if head&(runFg<<i) == 0 {
			continue
		}
		if u.b[0] == 0 {
			*c = PaletteColor(u.b[1])
			u.b = u.b[2:]
		} else {
			*c = RGBColor(u.b[1], u.b[2], u.b[3])
			u.b = u.b[4:]
		}
	}
	if head&runLink != 0 {
		s.Link = binary.LittleEndian.Uint16(u.b)
		u.b = u.b[2:]
	}
	u.style = s
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
