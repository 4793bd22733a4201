package pack

import (
	"container/list"
	"crypto/sha256"
	"encoding"
	"hash"
	"maps"
	"sync"
)

// state is what packing a checkpoint needs to know of its parent. It is not changed once it is in the cache.
type state struct {
	items int
	files map[string]fileState
	age   int // of the parent's marks
}

// fileState is one native file as it stands.
type fileState struct {
	size int64
	sum  [sha256.Size]byte
	mid  []byte // the hash's inner state after size bytes, nil when it is not known
}

// next returns the hash to go on with, nil when the inner state is not known.
func (f fileState) next() hash.Hash {
	h := sha256.New()
	if f.size == 0 {
		return h
	}
	u, ok := h.(encoding.BinaryUnmarshaler)
	if f.mid == nil || !ok || u.UnmarshalBinary(f.mid) != nil {
		return nil
	}
	return h
}

// after returns a file's state from the hash that has seen all of it.
func after(h hash.Hash, size int64) fileState {
	f := fileState{size: size}
	h.Sum(f.sum[:0])
	if m, ok := h.(encoding.BinaryMarshaler); ok {
		f.mid, _ = m.MarshalBinary() // without it, the next append reads the file again
	}
	return f
}

func (s *state) cost() int { return 256*len(s.files) + 256 }

// cache keeps the states of the newest checkpoints, so that the next put on each needs to read nothing.
type cache struct {
	mu    sync.Mutex // guards all below
	byRow map[int64]*list.Element
	order list.List // of *cached, newest first
	bytes int
	limit int
}

type cached struct {
	n int64
	s *state
}

func newCache(limit int) *cache { return &cache{byRow: map[int64]*list.Element{}, limit: limit} }

func (c *cache) get(n int64) *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byRow[n]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	s, _ := e.Value.(*cached)
	return s.s
}

// put keeps the state of row n and lets go of its parent's, which is rarely asked for again.
func (c *cache) put(n, parent int64, s *state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.byRow[parent])
	c.drop(c.byRow[n])
	c.byRow[n] = c.order.PushFront(&cached{n, s})
	c.bytes += s.cost()
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

// clear forgets everything.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.byRow)
	c.order.Init()
	c.bytes = 0
}

// drop forgets an element. The caller holds mu.
func (c *cache) drop(e *list.Element) {
	if e == nil {
		return
	}
	if x, ok := c.order.Remove(e).(*cached); ok {
		delete(c.byRow, x.n)
		c.bytes -= x.s.cost()
	}
}

// clone copies the files of a state for the next one.
func (s *state) clone() map[string]fileState {
	if s.files == nil {
		return map[string]fileState{}
	}
	return maps.Clone(s.files)
}
