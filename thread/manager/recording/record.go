package recording

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/turns"
)

// record is what a recorder knows of its newest checkpoint, so that an answer is stored without reading
// anything back.
type record struct {
	loaded   bool
	seed     maphash.Seed
	head     thread.CheckpointID // the newest one made, durable or not
	hashes   []uint64            // of the conversation's items at head
	session  string
	turn     int                 // that head belongs to
	phase    phase               // of that turn
	began    thread.CheckpointID // that the running turn stands on
	prompt   string              // that the turn is named by
	said     string              // what its newest request held of the person's words
	told     bool                // a hook has told of it
	asked    []thread.PromptID   // that the turn answers
	spoken   []bool              // which of the conversation's items hold words of the person
	snapshot *thread.Snapshot
	looked   time.Time // when snapshot was begun by a turn's end
	gauge    thread.Gauge
	files    transcript

	pending []put // made and not durable yet, oldest first
	wait    time.Duration
	damaged bool // the spool holds more of the thread than could be read
}

// put is a checkpoint on its way into the store.
type put struct {
	c     thread.Checkpoint
	delta thread.Delta
	cost  float64 // of side requests, in the gauge's cost
	held  *Held   // what it takes of memory
	// prompts are those that are stored with it.
	prompts []thread.Prompt
	small   bool // nothing else is held with it
	// answered is what is told once it is durable, nil for nothing.
	answered *Answered
	// spooled is set once the spool has it, at a place of its own; delta is empty then.
	spooled bool
	at      int64
	graft   *grafted // nil for one whose past is stored
}

// shrink leaves of a checkpoint that waits for the store only what is to be stored: its items are pieces of a
// whole request. What is spooled takes nothing.
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

// key is no content address: it lives in memory for one run and must be quick over a whole conversation at
// every answer.
func (r *record) key(it thread.Item) uint64 {
	return maphash.Bytes(r.seed, it.Raw) ^ bits.RotateLeft64(maphash.String(r.seed, it.Wire), 1)
}

// kept returns how many of the items stand already, the first of them at from.
func (r *record) kept(items []thread.Item, from int) int {
	n := min(len(items), len(r.hashes)-from)
	for i, it := range items[:n] {
		if r.key(it) != r.hashes[from+i] {
			return i
		}
	}
	return n
}

// same reports whether a request holds the same words of the person as the turn's newest.
func (r *record) same(prompt string) bool { return turns.Same(prompt, r.said) }

// arrival is a main response that is to be recorded.
type arrival struct {
	thread.Exchange
	requests int   // main requests begun when it ended
	held     *Held // nil where nobody counts it
	// direct is set for one that was read from the transcript; chunks are what was read.
	direct bool
	chunks []thread.Chunk
	// past is set for the end of a turn that another one has followed: its files and transcript are no more to be seen.
	past bool
	why  string    // the turn did not end by itself, for people
	read time.Time // when that was
}

// came is when a response ended, or was read where it is known by its transcript's clock alone.
func (e arrival) came() time.Time {
	if e.direct {
		return e.read
	}
	return e.Ended
}
