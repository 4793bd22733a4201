package tokens

import (
	"container/heap"
	"math"
)

// arrayLimit is the length in bytes up to which a piece is merged by scanning an array; longer ones use a heap.
const arrayLimit = 128

// none is the rank of a string that is not a token.
const none = math.MaxUint32

// merger counts the tokens of pieces. It is used by one goroutine at a time and reuses its memory.
type merger struct {
	starts [arrayLimit + 1]int32
	ranks  [arrayLimit + 1]uint32

	prev, next []int32
	pairs      pairHeap
}

// maxKept is the length of the longest piece whose memory a merger keeps.
const maxKept = 1 << 16

// count returns the number of tokens in a non-empty piece.
func (m *merger) count(ranks map[string]int, piece string) int {
	if _, ok := ranks[piece]; ok || len(piece) == 1 {
		return 1
	}
	if len(piece) <= arrayLimit {
		return m.array(ranks, piece)
	}
	n := m.heap(ranks, piece)
	if len(piece) > maxKept {
		m.prev, m.next, m.pairs = nil, nil, nil
	}
	return n
}

func rank(ranks map[string]int, s string) uint32 {
	if r, ok := ranks[s]; ok {
		return uint32(r)
	}
	return none
}

// array merges the pair with the lowest rank, leftmost first, until none is left.
func (m *merger) array(ranks map[string]int, piece string) int {
	n := len(piece) // parts; starts[n] is the end
	for i := range n + 1 {
		m.starts[i] = int32(i)
	}
	for i := range n - 1 {
		m.ranks[i] = rank(ranks, piece[i:i+2])
	}
	m.ranks[n-1] = none
	for n > 1 {
		best, at := uint32(none), 0
		for i, r := range m.ranks[:n-1] {
			if r < best {
				best, at = r, i
			}
		}
		if best == none {
			break
		}
		copy(m.starts[at+1:n], m.starts[at+2:n+1])
		copy(m.ranks[at+1:n-1], m.ranks[at+2:n])
		n--
		m.ranks[n-1] = none
		m.ranks[at] = m.pair(ranks, piece, at, n)
		if at > 0 {
			m.ranks[at-1] = m.pair(ranks, piece, at-1, n)
		}
	}
	return n
}

// pair returns the rank of parts i and i+1, of n, together.
func (m *merger) pair(ranks map[string]int, piece string, i, n int) uint32 {
	if i+1 >= n {
		return none
	}
	return rank(ranks, piece[m.starts[i]:m.starts[i+2]])
}

// pairOf is two adjacent parts that form a token together. It is stale if one of them has changed.
type pairOf struct {
	rank       uint32
	start, end int32
	mid        int32
}

// pairHeap has the lowest rank on top, the leftmost if several are equal.
type pairHeap []pairOf

// Len implements heap.Interface.
func (h pairHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h pairHeap) Less(i, j int) bool {
	if h[i].rank != h[j].rank {
		return h[i].rank < h[j].rank
	}
	return h[i].start < h[j].start
}

// Swap implements heap.Interface.
func (h pairHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface. It is not used: append and Fix allocate less.
func (h *pairHeap) Push(x any) { *h = append(*h, x.(pairOf)) }

// Pop implements heap.Interface.
func (h *pairHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// heap does the same as array in n·log n. Parts are a linked list by start offset: prev is -1 for the first; next is
// the end of the part and the start of the following one, and 0 for a part that has been merged into another.
func (m *merger) heap(ranks map[string]int, piece string) int {
	size := len(piece)
	if cap(m.prev) < size {
		m.prev, m.next = make([]int32, size), make([]int32, size)
	}
	m.prev, m.next, m.pairs = m.prev[:size], m.next[:size], m.pairs[:0]
	for i := range size {
		m.prev[i], m.next[i] = int32(i-1), int32(i+1)
	}
	for i := range size - 1 {
		if r := rank(ranks, piece[i:i+2]); r != none {
			m.pairs = append(m.pairs, pairOf{rank: r, start: int32(i), mid: int32(i + 1), end: int32(i + 2)})
		}
	}
	heap.Init(&m.pairs)
	n := size
	for len(m.pairs) > 0 {
		p := m.pop()
		if m.next[p.start] != p.mid || m.next[p.mid] != p.end {
			continue // stale
		}
		m.next[p.start], m.next[p.mid] = p.end, 0
		if int(p.end) < size {
			m.prev[p.end] = p.start
			m.push(ranks, piece, p.start, p.end)
		}
		if before := m.prev[p.start]; before >= 0 {
			m.push(ranks, piece, before, p.start)
		}
		n--
	}
	return n
}

// push adds the pair of the parts at start and mid if it is a token.
func (m *merger) push(ranks map[string]int, piece string, start, mid int32) {
	end := m.next[mid]
	r := rank(ranks, piece[start:end])
	if r == none {
		return
	}
	m.pairs = append(m.pairs, pairOf{rank: r, start: start, mid: mid, end: end})
	heap.Fix(&m.pairs, len(m.pairs)-1)
}

// pop removes the top.
func (m *merger) pop() pairOf {
	h := m.pairs
	top := h[0]
	h[0] = h[len(h)-1]
	m.pairs = h[:len(h)-1]
	if len(m.pairs) > 0 {
		heap.Fix(&m.pairs, 0)
	}
	return top
}
