package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// What may wait for the store.
const (
	maxBytes = 64 << 20
	maxTries = 20 // for a row that the store refuses for what it is: about eight minutes, over all servers
)

// The pauses before the store is tried again.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// queue writes items in the order in which their rows came, one after the other, in a goroutine that lives while there
// are any. While the store is away all wait for it; a row that is refused for what it is waits aside, in nobody's way, and
// is given up after some tries.
type queue struct {
	store Store
	log   *slog.Logger
	ctx   context.Context
	// begin counts the goroutine in, done counts it out; closing ends when the server stops.
	begin   func() bool
	done    func()
	closing context.Context
	kept    kept
	// ended is called with a row that is stored with its end; nil for none.
	ended func(work.Execution)
	wake  chan struct{} // says that something came

	mu      sync.Mutex // guards the fields below
	waiting map[work.ID]*item
	order   []work.ID
	aside   []work.ID // of waiting, the refused ones
	again   time.Time // when they are tried again
	more    bool      // some came since the file was written
	bytes   int64
	running bool
	failing bool             // the store has not taken the last item because it is away
	left    int              // items that were dropped since the store fails
	lost    map[work.ID]bool // rows that were given up, to log each of them once
	isKept  bool             // there is a file
	did     chan struct{}    // closed once something more was tried
	// first is done before anything else, until it succeeds.
	first func(ctx context.Context) error
	tries int // of first
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
	if q.lost[i.Row.ID] {
		return
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
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
	if q.running || len(q.waiting) == 0 && q.first == nil || !q.begin() {
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
	q.first, q.isKept = first, q.kept.file != "" // it goes once all is stored
	q.start()
}

// settled waits until a row is stored, for a while; not while the store fails, nor for a row that it refuses.
func (q *queue) settled(id work.ID, most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	for {
		q.mu.Lock()
		i := q.waiting[id]
		over, wrote := q.failing || !q.running || i == nil || i.Tries > 0, q.did
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
		did, wait, err := q.next()
		wake := q.wake
		switch {
		case err != nil: // the store is away: what comes meanwhile waits too
			wait, wake = pause, nil
			pause = min(2*pause, lastPause)
		case did:
			pause = firstPause
			continue
		case wait <= 0:
			return
		}
		if err != nil || q.asideMore() {
			q.keep()
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-wake:
		case <-q.closing.Done():
			t.Stop()
			q.last()
			return
		}
		t.Stop()
	}
}

// last tries what waits once more before the server ends, and keeps the rest.
func (q *queue) last() {
	for {
		did, wait, err := q.next()
		if err == nil && did {
			continue
		}
		if err != nil || wait > 0 {
			q.keep()
			q.mu.Lock()
			q.running = false
			q.mu.Unlock()
		}
		return
	}
}

// next does one thing, if there is one to do now. Else wait is for how long nothing is done but what comes new, and 0 if
// nothing waits: then the goroutine must end. An error is one of a store that is away.
func (q *queue) next() (did bool, wait time.Duration, err error) {
	q.mu.Lock()
	if wait = time.Until(q.again); len(q.aside) > 0 && wait <= 0 {
		q.order, q.aside = append(q.order, q.aside...), nil
	}
	switch {
	case q.first != nil:
		first := q.first
		q.mu.Unlock()
		return true, 0, q.began(first(q.ctx))
	case len(q.order) == 0 && len(q.aside) > 0:
		q.mu.Unlock()
		return false, wait, nil
	case len(q.order) == 0:
		q.running, q.failing = false, false
		remove := q.isKept
		q.isKept = false
		q.mu.Unlock()
		if remove {
			_ = os.Remove(q.kept.file) // what is written twice is stored once
		}
		return false, 0, nil
	}
	// It stays in waiting, so that settled sees it; what comes meanwhile is another item.
	i := q.waiting[q.order[0]]
	taken := *i
	*i = item{Row: i.Row, Note: i.Note, Tries: i.Tries}
	q.bytes += i.size() - taken.size()
	q.mu.Unlock()
	x, err := write(q.ctx, q.store, taken)
	if err == nil && !taken.Note && x.State.Final() && q.ended != nil {
		q.ended(x)
	}
	return true, 0, q.wrote(taken, err)
}

// began takes what became of first.
func (q *queue) began(err error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.told(err)
	q.tries++
	if err == nil || !away(err) && q.tries >= maxTries/4 {
		if err != nil {
			q.log.Error("what earlier servers left open stays so", "err", err)
		}
		q.first = nil
		return nil
	}
	q.log.Warn("what earlier servers left open cannot be read: it is tried again", "err", err)
	return err
}

// told tells those who wait that something was tried. mu is held.
func (q *queue) told(err error) {
	q.failing = err != nil && away(err)
	close(q.did)
	q.did = make(chan struct{})
}

// wrote takes an item out of what waits, or back into it if the store has not taken it. It returns an error of a store that
// is away.
func (q *queue) wrote(i item, err error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.told(err)
	id, rest := i.Row.ID, q.waiting[i.Row.ID]
	q.order = q.order[1:]
	switch {
	case err == nil:
		if q.left > 0 {
			q.log.Error("rows of the record were dropped while its store was away", "rows", q.left)
			q.left = 0
		}
		if rest.Row == i.Row && len(rest.events()) == 0 {
			q.drop(id)
			return nil
		}
		rest.New, rest.Tries = false, 0
		q.order = append(q.order, id)
	case away(err):
		q.back(i)
		q.order = append(q.order, id)
		q.log.Warn("the record cannot be written: it is tried again", "err", err, "waiting", len(q.waiting))
		return err
	case never(err) || i.Tries+1 >= maxTries:
		q.drop(id)
		q.giveUp(i, err)
	default:
		i.Tries++
		q.back(i)
		if len(q.aside) == 0 {
			q.again = time.Now().Add(min(firstPause<<min(i.Tries-1, 10), lastPause))
		}
		q.aside, q.more = append(q.aside, id), true
	}
	return nil
}

// asideMore reports whether rows are aside that are not in the file as they are.
func (q *queue) asideMore() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.more
}

// back takes an item that is not stored back into what waits, below what came meanwhile. mu is held.
func (q *queue) back(i item) {
	rest := q.waiting[i.Row.ID]
	q.bytes -= rest.size()
	newer := *rest
	*rest = i
	rest.over(newer)
	q.bytes += rest.size()
}

// drop takes a row out of what waits. mu is held.
func (q *queue) drop(id work.ID) {
	q.bytes -= q.waiting[id].size()
	delete(q.waiting, id)
}

// giveUp says that a row is not stored, in the log and, of a sub-agent, in the row of who started it. mu is held.
func (q *queue) giveUp(i item, err error) {
	q.log.Error("a row of the record is not stored", "row", i.Row.ID, "kind", i.Row.Kind, "err", err)
	if len(q.lost) < maxWaiting {
		q.lost[i.Row.ID] = true
	}
	if i.Note || i.Row.Kind != work.KindNative || i.Row.Parent == "" {
		return
	}
	why := fmt.Sprintf("what its sub-agent %s did is not recorded in full: %v", i.Row.Key, err)
	q.add(item{Row: work.Execution{ID: i.Row.Parent}, Note: true, Notes: []string{thread.Excerpt(why)}})
}

// away reports whether no row can be written now.
func away(err error) bool {
	for _, is := range []error{
		thread.ErrUnreachable, thread.ErrDiskFull, thread.ErrReadOnly, work.ErrNoRecord, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// never reports whether a row can never be written as it is.
func never(err error) bool {
	return errors.Is(err, thread.ErrInvalid) || errors.Is(err, thread.ErrNotFound) || errors.Is(err, thread.ErrNameTaken)
}

// keep writes what waits into the file.
func (q *queue) keep() {
	if q.kept.file == "" {
		return
	}
	q.mu.Lock()
	list := make([]item, 0, len(q.waiting))
	for _, id := range slices.Concat(q.order, q.aside) {
		i := *q.waiting[id]
		i.Notes = slices.Clone(i.Notes)
		list = append(list, i)
	}
	q.isKept, q.more = q.isKept || len(list) > 0, false
	q.mu.Unlock()
	if len(list) > 0 {
		q.kept.write(list)
	}
}
