// Package live passes on what executions report to those who follow them.
//
// Guarantees: reporting never blocks. Who begins to follow first hears what the running attempt has reported so far, so
// that nothing is missed between the start of an execution and following it. A follower that reads slowly misses pieces,
// never a change of state or the end of a run, and is told with its next piece how many it has missed; so is one that
// comes after so much that not all of it is kept. It holds a bounded part of a flood, and no other follower notices.
package live

import (
	"context"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/ground/backlog"
	"orchestrator/thread/work"
)

// Hub passes on what executions report. The zero value is ready.
type Hub struct {
	mu        sync.Mutex // guards the fields and all followers
	followers map[work.ID]map[*follower]struct{}
	kept      map[work.ID]*kept
	closed    bool
}

// follower is who follows an execution.
type follower struct {
	wake   backlog.Wake
	queue  []thread.Event
	bytes  int // of the texts in it
	missed int // since the last piece in it
	over   bool
}

// Report passes on a piece of an execution.
func (h *Hub) Report(id work.ID, p thread.RunPiece) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if h.kept == nil {
		h.kept = map[work.ID]*kept{}
	}
	if h.kept[id] == nil || h.kept[id].attempt != p.Attempt {
		h.kept[id] = &kept{attempt: p.Attempt}
	}
	h.kept[id].add(p)
	for f := range h.followers[id] {
		f.add(p)
	}
}

// add puts a piece into a follower's queue, if there is room or the piece must not be missed. The hub's lock is held.
func (f *follower) add(p thread.RunPiece) {
	size := size(p)
	must := p.State != "" || p.Event != nil && p.Event.Kind == thread.RunEnd
	if !must && len(f.queue) > 0 && (len(f.queue) >= mostPieces || f.bytes+size > mostBytes) {
		f.missed++
		return
	}
	p.Missed += f.missed
	e := thread.Event{Kind: thread.EventRun, Run: &p}
	if p.Event != nil {
		e.At = p.Event.At
	}
	f.queue, f.bytes, f.missed = append(f.queue, e), f.bytes+size, 0
	f.wake.Notify()
}

// Follow returns what an execution has reported in its running attempt, then what this follower is told besides, and what
// the execution reports from now on. The channel is closed when ctx ends, and once everything was read after End or Close.
func (h *Hub) Follow(ctx context.Context, id work.ID, told ...thread.RunPiece) <-chan thread.Event {
	out := make(chan thread.Event)
	f := &follower{wake: backlog.NewWake()}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(out)
		return out
	}
	if h.followers == nil {
		h.followers = map[work.ID]map[*follower]struct{}{}
	}
	if h.followers[id] == nil {
		h.followers[id] = map[*follower]struct{}{}
	}
	h.followers[id][f] = struct{}{}
	if k := h.kept[id]; k != nil {
		f.missed = k.missed
		for _, p := range k.pieces {
			f.add(p)
		}
	}
	for _, p := range told {
		f.add(p)
	}
	go h.pump(ctx, id, f, out)
	return out
}

// pump moves a follower's queue to its channel.
func (h *Hub) pump(ctx context.Context, id work.ID, f *follower, out chan<- thread.Event) {
	defer close(out)
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.remove(id, f)
	}()
	backlog.Move(ctx, out, f.wake, func() ([]thread.Event, bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		batch := f.queue
		f.queue, f.bytes = nil, 0
		return batch, f.over
	})
}

// remove forgets a follower. The lock is held.
func (h *Hub) remove(id work.ID, f *follower) {
	if delete(h.followers[id], f); len(h.followers[id]) == 0 {
		delete(h.followers, id)
	}
}

// End says that an execution reports nothing more: Report is not called for it again.
func (h *Hub) End(id work.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(id)
}

// end is End. The lock is held.
func (h *Hub) end(id work.ID) {
	for f := range h.followers[id] {
		f.over = true
		f.wake.Notify()
		h.remove(id, f)
	}
	delete(h.kept, id)
}

// Close ends all following.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for id := range h.followers {
		h.end(id)
	}
}
