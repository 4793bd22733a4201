package tokens

import "crypto/sha256"

// key is the part of a content's hash by which its count is found. Half of a SHA-256 is enough to tell texts apart, and
// takes half of the memory.
type key [16]byte

// keyOf returns the key of a text's count by an encoding: its hash's for Default, in which all counts were once.
func keyOf(encoding string, sum [32]byte) key {
	if encoding != Default {
		sum = sha256.Sum256(append(sum[:], encoding...))
	}
	return key(sum[:16])
}

// entry is one count.
type entry struct {
	key key
	n   uint32
}

// recent holds a bounded number of counts, of which those that were not used for longest are given up. It has two
// generations: what is new or used goes to the young one, and once that is half of the limit, it becomes the old one,
// and the old one is given up. The list of a generation only grows, so that a copy of its header is a snapshot, which
// takes no time.
type recent struct {
	half       int
	young, old generation
}

type generation struct {
	counts map[key]uint32
	list   []entry
}

func newRecent(limit int) recent { return recent{half: max(1, limit/2), young: newGeneration()} }

func newGeneration() generation { return generation{counts: map[key]uint32{}} }

// get returns a count. moved says that it was used for the first time in a while, which is worth being written.
func (r *recent) get(k key) (n uint32, ok, moved bool) {
	if n, ok = r.young.counts[k]; ok {
		return n, true, false
	}
	if n, ok = r.old.counts[k]; ok {
		r.put(entry{k, n})
	}
	return n, ok, ok
}

// put adds a count. One that it has already stays.
func (r *recent) put(e entry) {
	if _, ok := r.young.counts[e.key]; ok {
		return
	}
	if len(r.young.list) >= r.half {
		r.old, r.young = r.young, newGeneration()
	}
	r.young.counts[e.key] = e.n
	r.young.list = append(r.young.list, e)
}

// lists returns the counts, those that are given up first before the others. A count may be in both.
func (r *recent) lists() [2][]entry { return [2][]entry{r.old.list, r.young.list} }
