package recording

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/turns"
)

// record is what a recorder knows about its newest checkpoint, so that it can store an answer without reading anything
// back.
type record struct {
	loaded   bool
	seed     maphash.Seed
	head     thread.CheckpointID // the newest one made, durable or not
	hashes   []uint64            // of the conversation's items at head
	session  string
	turn     int                 // of head
	phase    phase               // of that turn
	began    thread.CheckpointID // where the running turn began
	prompt   string              // that names the turn
	said     string              // the person's words in its newest request
	told     bool                // a hook has reported it
	asked    []thread.PromptID   // answered by the turn
	first    int                 // place of the turn's first item, counted from 1; 0 if it is not known
	spoken   []uint64            // the keys of the person's words in each item of the conversation, 0 for none
	snapshot *thread.Snapshot
	looked   time.Time // when the end of a turn started taking snapshot
	gauge    thread.Gauge
	files    transcript

	pending []put // made but not durable yet, oldest first
	wait    time.Duration
	damaged bool // a part of the thread's spool could not be read
}

// put is a checkpoint that is being stored.
type put struct {
	c     thread.Checkpoint
	delta thread.Delta
	cost  float64 // of side requests, included in the gauge's cost
	held  *Held   // its memory
	// prompts are stored with it.
	prompts []thread.Prompt
	small   bool // nothing else is held with it
	// answered is reported once it is durable; nil reports nothing.
	answered *Answered
	// spooled is set once it is in the spool, at offset at; delta is empty then.
	spooled bool
	at      int64
	graft   *grafted // nil unless its parent was lost
}

// shrink drops everything that is not to be stored from a checkpoint that waits for the store: its items are pieces of
// a whole request. A spooled checkpoint takes no memory.
func (p *put) shrink() {
	if p.spooled {
		p.held.End()
	}
	if p.small || p.held == nil || p.held.release == nil {
		return
	}
	p.small = true
	size := int64(1 << 10)
	p.delta.Items = slices.Clone(p.delta.Items)
	for i, it := range p.delta.Items {
		p.delta.Items[i].Raw = slices.Clone(it.Raw)
		size += int64(len(it.Raw))
	}
	p.held.shrink(size)
}

// hash returns the keys by which items are compared.
func (r *record) hash(items []thread.Item) []uint64 {
	hs := make([]uint64, len(items))
	for i, it := range items {
		hs[i] = r.key(it)
	}
	return hs
}

// key is not a content address: it is kept in memory for one run and must be fast over a whole conversation at every
// answer.
func (r *record) key(it thread.Item) uint64 {
	return maphash.Bytes(r.seed, it.Raw) ^ bits.RotateLeft64(maphash.String(r.seed, it.Wire), 1)
}

// kept returns how many of the items are stored already; the first of them is at index from.
func (r *record) kept(items []thread.Item, from int) int {
	n := min(len(items), len(r.hashes)-from)
	for i, it := range items[:n] {
		if r.key(it) != r.hashes[from+i] {
			return i
		}
	}
	return n
}

// same reports whether a request contains the same words of the person as the turn's newest.
func (r *record) same(prompt string) bool { return turns.Same(prompt, r.said) }

// arrival is a main response to be recorded.
type arrival struct {
	thread.Exchange
	requests int   // started until it ended
	held     *Held // nil if not counted
	// direct is set if it was read from the transcript; chunks are what was read.
	direct bool
	chunks []thread.Chunk
	// past is set for the end of a turn that another one has followed: its files and transcript can no longer be seen.
	past bool
	why  string    // why the turn did not end by itself, for people
	read time.Time // when that was
}

// came is when a response ended, or when it was read if only the transcript's clock is known.
func (e arrival) came() time.Time {
	if e.direct {
		return e.read
	}
	return e.Ended
}
