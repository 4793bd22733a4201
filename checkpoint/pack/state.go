package pack

import (
	"container/list"
	"crypto/sha256"
	"encoding"
	"hash"
	"maps"
	"sync"

	"orchestrator/thread"
)

// state is what packing a checkpoint needs to know about its parent. It is not changed once it is in the cache.
type state struct {
	row   int64 // its number
	items int
	keys  []itemKey // of all items, nil if unknown
	files map[string]fileState
	age   int  // of the parent's marks
	lost  bool // the parent cannot be read
}

// itemKey is the beginning of an item's hash, long enough that nobody can make two items with one key.
type itemKey [16]byte

func keyOf(it thread.Item) itemKey {
	h := sha256.New()
	h.Write([]byte(it.Wire))
	h.Write([]byte{0})
	h.Write(it.Raw)
	return itemKey(h.Sum(nil)[:len(itemKey{})])
}

// maxKeys bounds the items of a conversation whose keys are kept.
const maxKeys = 16 << 10

// fileState is the state of one native file.
type fileState struct {
	size int64
	sum  [sha256.Size]byte
	mid  []byte // the hash's inner state after size bytes, nil if unknown
}

// next returns the hash to continue with, nil if the inner state is unknown.
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

func (s *state) cost() int { return 256*len(s.files) + len(itemKey{})*len(s.keys) + 256 }

// cache keeps the states of the newest checkpoints, so that the next put on each needs to read nothing.
type cache struct {
	mu    sync.Mutex // guards all below
	byID  map[thread.CheckpointID]*list.Element
	order list.List // of *cached, newest first
	bytes int
	limit int
}

type cached struct {
	id thread.CheckpointID
	s  *state
}

func newCache(limit int) *cache {
	return &cache{byID: map[thread.CheckpointID]*list.Element{}, limit: limit}
}

func (c *cache) get(id thread.CheckpointID) *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byID[id]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	s, _ := e.Value.(*cached)
	return s.s
}

// put keeps the state of a checkpoint and drops its parent's, which is rarely needed again.
func (c *cache) put(id, parent thread.CheckpointID, s *state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.byID[parent])
	c.drop(c.byID[id])
	c.byID[id] = c.order.PushFront(&cached{id, s})
	c.bytes += s.cost()
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

// clear drops everything.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.byID)
	c.order.Init()
	c.bytes = 0
}

// drop drops an element. The caller holds mu.
func (c *cache) drop(e *list.Element) {
	if e == nil {
		return
	}
	if x, ok := c.order.Remove(e).(*cached); ok {
		delete(c.byID, x.id)
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
