package vterm

// table interns values under small numbers and reuses free numbers. Number 0 is the zero value and stays. When the
// number of values reaches the limit, the owner must sweep before adding.
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

// sweep frees every number that is not marked and sets the next limit to twice the number of values that are left, so
// that the cost of sweeping is spread over as many additions.
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
