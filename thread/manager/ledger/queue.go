package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// What may wait for the store.
const (
	maxWaiting = 10_000
	maxBytes   = 64 << 20
	maxKept    = 16 << 20 // of them in the file
)

// The pauses before the store is tried again.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// queue writes items in the order in which their rows came, one after the other, in a goroutine that lives while there
// are any.
type queue struct {
	store Store
	log   *slog.Logger
	ctx   context.Context
	// begin counts the goroutine in, done counts it out; closing ends when the server stops.
	begin   func() bool
	done    func()
	closing context.Context
	file    string // keeps what waits while the store is away; "" for none
	// ended is called with a row that is stored with its end; nil for none.
	ended func(work.Execution)

	mu      sync.Mutex // guards the fields below
	waiting map[work.ID]*item
	order   []work.ID
	bytes   int64
	running bool
	failing bool          // the store has refused the last item
	left    int           // items that were dropped since the store fails
	kept    bool          // there is a file
	did     chan struct{} // closed once something more was tried
	// first is done before anything else, until it succeeds.
	first func(ctx context.Context) error
}

// put has an item stored. It does not block.
func (q *queue) put(i item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(i)
	q.start()
}

// add takes an item into what waits. mu is held.
func (q *queue) add(i item) {
	old := q.waiting[i.Row.ID]
	if n := i.size(); q.bytes+n > maxBytes { // the row is more than its texts
		i.Given, i.Said, i.Notes = "", "", nil
	}
	switch {
	case old != nil:
		q.bytes -= old.size()
		old.over(i)
		q.bytes += old.size()
	case len(q.waiting) >= maxWaiting:
		q.left++
	default:
		q.waiting[i.Row.ID] = &i
		q.order = append(q.order, i.Row.ID)
		q.bytes += i.size()
	}
}

// start starts the goroutine, if there is something to do. mu is held.
func (q *queue) start() {
	if q.running || len(q.order) == 0 && q.first == nil || !q.begin() {
		return
	}
	q.running = true
	go q.work()
}

// open has items stored, after first has succeeded.
func (q *queue) open(items []item, first func(ctx context.Context) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range items {
		q.add(i)
	}
	q.first, q.kept = first, q.file != "" // it goes once all is stored
	q.start()
}

// settled waits until a row is stored, for a while; not while the store fails.
func (q *queue) settled(id work.ID, most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	for {
		q.mu.Lock()
		over, wrote := q.failing || !q.running || q.waiting[id] == nil, q.did
		q.mu.Unlock()
		if over {
			return
		}
		select {
		case <-wrote:
		case <-end.C:
			return
		}
	}
}

// work writes until nothing waits.
func (q *queue) work() {
	defer q.done()
	pause := firstPause
	for {
		did, err := q.next()
		switch {
		case err == nil && !did:
			return
		case err == nil:
			pause = firstPause
			continue
		}
		q.keep()
		t := time.NewTimer(pause)
		pause = min(2*pause, lastPause)
		select {
		case <-t.C:
		case <-q.closing.Done():
			t.Stop()
			q.last()
			return
		}
	}
}

// last tries what waits once more before the server ends, and keeps the rest.
func (q *queue) last() {
	for {
		did, err := q.next()
		if err == nil && did {
			continue
		}
		if err != nil {
			q.keep()
			q.mu.Lock()
			q.running = false
			q.mu.Unlock()
		}
		return
	}
}

// next does one thing; did is false if there is none, and then the goroutine must end.
func (q *queue) next() (did bool, err error) {
	q.mu.Lock()
	first := q.first
	if first == nil && len(q.order) == 0 {
		q.running, q.failing = false, false
		kept := q.kept
		q.kept = false
		q.mu.Unlock()
		if kept {
			_ = os.Remove(q.file) // what is written twice is stored once
		}
		return false, nil
	}
	var i *item
	if first == nil {
		id := q.order[0]
		i = q.waiting[id]
		// It stays in waiting, so that settled sees it; what comes meanwhile is another item.
		taken := *i
		*i = item{Row: i.Row, Note: i.Note}
		q.bytes += i.size() - taken.size()
		i = &taken
	}
	q.mu.Unlock()
	if first != nil {
		err = first(q.ctx)
	} else {
		var x work.Execution
		x, err = write(q.ctx, q.store, *i)
		if err == nil && !i.Note && x.State.Final() && q.ended != nil {
			q.ended(x)
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failing = err != nil && passes(err)
	close(q.did)
	q.did = make(chan struct{})
	if first != nil {
		if !q.failing {
			q.first = nil
		}
		return true, q.refused(err)
	}
	q.wrote(*i)
	return true, q.refused(err)
}

// wrote takes an item out of what waits, or back into it if the store has refused it for now. mu is held.
func (q *queue) wrote(i item) {
	rest := q.waiting[i.Row.ID]
	q.order = q.order[1:]
	if q.failing {
		q.order = append(q.order, i.Row.ID) // it must not be in the way of others
		q.bytes -= rest.size()
		newer := *rest
		*rest = i
		rest.over(newer)
		q.bytes += rest.size()
		return
	}
	if rest.Row == i.Row && len(rest.events()) == 0 {
		q.bytes -= rest.size()
		delete(q.waiting, i.Row.ID)
		return
	}
	rest.New = false
	q.order = append(q.order, i.Row.ID)
}

// refused logs an error, and returns it if it passes. mu is held.
func (q *queue) refused(err error) error {
	switch {
	case err == nil:
		if q.left > 0 {
			q.log.Error("rows of the record were dropped while its store was away", "rows", q.left)
			q.left = 0
		}
		return nil
	case passes(err):
		q.log.Warn("the record cannot be written: it is tried again", "err", err, "waiting", len(q.order))
		return err
	default:
		q.log.Error("a row of the record is not stored", "err", err)
		return nil
	}
}

// passes reports whether a write that failed may succeed later.
func passes(err error) bool {
	return !errors.Is(err, thread.ErrInvalid) && !errors.Is(err, work.ErrFence) && !errors.Is(err, thread.ErrNotFound) &&
		!errors.Is(err, thread.ErrNameTaken)
}

// keep writes what waits into the file, as far as it has room.
func (q *queue) keep() {
	if q.file == "" {
		return
	}
	q.mu.Lock()
	list, room := make([]item, 0, len(q.order)), int64(maxKept)
	for _, id := range q.order {
		i := *q.waiting[id]
		if i.size() > room {
			i.Given, i.Said, i.Notes = "", plaintext.Cut(i.Said, 2000), nil
		}
		if room -= i.size(); room < 0 {
			break
		}
		i.Notes = slices.Clone(i.Notes)
		list = append(list, i)
	}
	q.kept = q.kept || len(list) > 0
	q.mu.Unlock()
	if len(list) == 0 {
		return
	}
	raw, err := json.Marshal(list)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(q.file), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(q.file, raw, false)
	}
	if err != nil {
		q.log.Warn("keep what the record does not take", "err", err)
	}
}

// load returns what an earlier server has kept.
func (q *queue) load() (list []item) {
	if q.file == "" {
		return nil
	}
	raw, err := os.ReadFile(q.file)
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		q.log.Warn("read what an earlier server could not record", "err", err)
		return nil
	}
	return list
}
