package vterm

import "unicode/utf8"

// style returns the ids of the pen and of erased cells.
func (t *Terminal) style() uint32 {
	if !t.penOK {
		t.internPen()
	}
	return t.penID
}

func (t *Terminal) blank() uint32 {
	if !t.penOK {
		t.internPen()
	}
	return t.blankID
}

func (t *Terminal) internPen() {
	t.penID = t.styleID(t.pen)
	t.blankID = t.styleID(Style{Bg: t.pen.Bg})
	t.penOK = true
}

// styleID returns the number of a style.
func (t *Terminal) styleID(s Style) uint32 {
	if s == (Style{}) {
		return 0
	}
	h := (uint32(s.Fg)*0x9e3779b1 ^ uint32(s.Bg)*0x85ebca6b ^ uint32(s.Attr)*0xc2b2ae35 ^
		uint32(s.Ul) ^ uint32(s.Link)<<5) >> 25
	c := &t.styleCache[h]
	if c.id != 0 && c.style == s {
		return c.id
	}
	id, ok := t.styles.find(s)
	if !ok {
		if t.styles.live() >= t.styles.limit && !t.keepStyles {
			t.sweepStyles()
		}
		id = t.styles.add(s)
	}
	c.style, c.id = s, id
	return id
}

// eachCell calls f for every real cell of both screens.
func (t *Terminal) eachCell(f func(cell)) {
	for _, s := range []*screen{&t.main, &t.alt} {
		for _, r := range s.rows {
			for _, c := range r.cells[:min(r.used, len(r.cells))] {
				f(c)
			}
		}
	}
}

func (t *Terminal) sweepStyles() {
	marked := make([]bool, len(t.styles.vals))
	marked[t.penID] = true
	marked[t.blankID] = true
	t.eachCell(func(c cell) { marked[c.style()] = true })
	t.styles.sweep(marked)
	t.styleCache = [128]styleSlot{}
}

// clusterID returns the number of a grapheme of several code points.
func (t *Terminal) clusterID(s []byte) uint32 {
	id, ok := t.clusters.index[string(s)] // this conversion does not allocate
	if !ok {
		if t.clusters.live() >= t.clusters.limit && !t.keepStyles {
			t.sweepClusters()
		}
		id = t.clusters.add(string(s))
	}
	return id
}

func (t *Terminal) sweepClusters() {
	marked := make([]bool, len(t.clusters.vals))
	if t.lastCh&clusterBit != 0 {
		marked[t.lastCh&^clusterBit] = true
	}
	t.eachCell(func(c cell) {
		if c.ch&clusterBit != 0 {
			marked[c.ch&^clusterBit] = true
		}
	})
	t.clusters.sweep(marked)
}

// text returns the code points of a cell's character.
func (t *Terminal) text(ch uint32) string {
	if ch&clusterBit != 0 {
		return t.clusters.vals[ch&^clusterBit]
	}
	return string(rune(ch))
}

func (t *Terminal) appendText(dst []byte, ch uint32) []byte {
	if ch&clusterBit != 0 {
		return append(dst, t.clusters.vals[ch&^clusterBit]...)
	}
	return utf8.AppendRune(dst, rune(ch))
}

// linkID returns the number of a hyperlink, or 0 when there is no room for another.
func (t *Terminal) linkID(l link) uint16 {
	if len(l.uri) == 0 || len(l.uri) > maxLinkBytes || len(l.id) > 256 {
		return 0
	}
	if id, ok := t.links.find(l); ok {
		return uint16(id)
	}
	if t.links.live() >= t.links.limit || t.links.live() >= maxLinks {
		if t.scrolled < t.linkSweepAt {
			return 0
		}
		t.sweepLinks()
		if t.links.live() >= maxLinks*3/4 {
			t.linkSweepAt = t.scrolled + 1000
		}
		if t.links.live() >= maxLinks {
			return 0
		}
	}
	return uint16(t.links.add(l))
}

func (t *Terminal) sweepLinks() {
	marked := make([]bool, len(t.links.vals))
	t.sweepStyles()
	for id := range t.styles.vals {
		marked[t.styles.vals[id].Link] = true
	}
	marked[t.pen.Link] = true
	marked[t.main.saved.pen.Link] = true
	marked[t.alt.saved.pen.Link] = true
	t.history.eachStyle(func(s Style) { marked[s.Link] = true })
	t.links.sweep(marked)
}

// Link returns the target of a style's link.
func (t *Terminal) Link(n uint16) string {
	if int(n) >= len(t.links.vals) {
		return ""
	}
	return t.links.vals[n].uri
}
