package vterm

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

func (h *history) clear() {
	h.pages, h.count, h.bytes, h.spare = nil, 0, 0, nil
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

// room returns a page with room for n bytes. The first page of a history grows, so that a short one is small.
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

// line returns packed line i, 0 the oldest. It is valid until the next change of the history.
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

// dropNewest removes the last n lines.
func (h *history) dropNewest(n int) {
	for ; n > 0 && h.count > 0; n-- {
		p := h.pages[len(h.pages)-1]
		p.buf = p.buf[:p.offs[len(p.offs)-1]]
		p.offs = p.offs[:len(p.offs)-1]
		h.count--
		if len(p.offs) == p.skip && len(h.pages) > 1 {
			h.bytes -= cap(p.buf)
			h.pages = h.pages[:len(h.pages)-1]
		} else if len(p.offs) == p.skip {
			p.buf, p.offs, p.skip = p.buf[:0], p.offs[:0], 0
		}
	}
}
