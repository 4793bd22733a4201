package vterm

// table interns values under small numbers and takes back the numbers nobody uses. Number 0 is the zero
// value and stays. When as many values are held as the limit says, the owner must sweep before adding.
type table[V comparable] struct {
	vals  []V
	index map[V]uint32
	free  []uint32
	limit int
}

// sweepFloor is the size under which a table is never swept.
const sweepFloor = 4096

func newTable[V comparable]() table[V] {
	return table[V]{vals: make([]V, 1), limit: sweepFloor}
}

func (t *table[V]) live() int { return len(t.vals) - len(t.free) }

func (t *table[V]) find(v V) (uint32, bool) {
	id, ok := t.index[v]
	return id, ok
}

func (t *table[V]) add(v V) uint32 {
	if t.index == nil {
		t.index = make(map[V]uint32)
	}
	var id uint32
	if n := len(t.free); n > 0 {
		id = t.free[n-1]
		t.free = t.free[:n-1]
		t.vals[id] = v
	} else {
		id = uint32(len(t.vals))
		t.vals = append(t.vals, v)
	}
	t.index[v] = id
	return id
}

// sweep frees every number that is not marked and sets the next limit to twice what lives, so that the
// cost of sweeping is spread over as many additions.
func (t *table[V]) sweep(marked []bool) {
	var zero V
	t.free = t.free[:0]
	index := make(map[V]uint32)
	for id := 1; id < len(t.vals); id++ {
		if marked[id] {
			index[t.vals[id]] = uint32(id)
			continue
		}
		t.vals[id] = zero
		t.free = append(t.free, uint32(id))
	}
	t.index = index
	for n := len(t.vals); n > 1 && !marked[n-1]; n-- {
		t.vals = t.vals[:n-1]
	}
	kept := t.free[:0]
	for _, id := range t.free {
		if int(id) < len(t.vals) {
			kept = append(kept, id)
		}
	}
	t.free = kept
	t.limit = max(sweepFloor, 2*len(t.index))
}

// link is a hyperlink: its target and the program's own id for it.
type link struct{ uri, id string }

const (
	maxLinks     = 1 << 14 // live hyperlinks a terminal
	maxLinkBytes = 2083    // length of a target, as other terminals limit it
)

// styleID gives the number of a style.
func (t *Terminal) styleID(s Style) uint32 {
	if s == (Style{}) {
		return 0
	}
	h := (uint32(s.Fg)*0x9e3779b1 ^ uint32(s.Bg)*0x85ebca6b ^ uint32(s.Attr)*0xc2b2ae35 ^ uint32(s.Ul) ^ uint32(s.Link)<<5) >> 25
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

// clusterID gives the number of a grapheme of several code points.
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

// linkID gives the number of a hyperlink, or 0 when there is no room for another.
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
