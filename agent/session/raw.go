package session

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	// rawQueue is how many pieces of output may wait for the writer that keeps them, and rawRoom how many there are at most
	// when another piece is read: two are read at once.
	rawQueue = 34
	rawRoom  = rawQueue - 2
	// rawWait is how long a full queue, and then the end, waits for it, and rawLeave how long once the run is being ended.
	rawWait  = 2 * time.Second
	rawLeave = 100 * time.Millisecond
)

// raw passes on what a process prints to a writer that keeps it, which may be slow, full or stuck. room and hurry are for any
// goroutine, the other methods for one at a time.
type raw struct {
	pieces chan []byte
	taken  chan struct{} // contains an element for a piece or two that were taken
	done   chan struct{} // closed when nothing more is written
	hurry  chan struct{} // closed when nobody waits any more
	once   sync.Once     // closes it
	err    error         // valid once done is closed
	gone   bool          // nothing is passed on any more
}

// newRaw returns one for a writer, nil for none.
func newRaw(w io.Writer) *raw {
	if w == nil {
		return nil
	}
	r := &raw{pieces: make(chan []byte, rawQueue), taken: make(chan struct{}, 2), done: make(chan struct{}), hurry: make(chan struct{})}
	go r.run(w)
	return r
}

// run writes until there is no more, or it fails.
func (r *raw) run(w io.Writer) {
	defer close(r.done)
	for b := range r.pieces {
		select {
		case r.taken <- struct{}{}:
		default:
		}
		if _, r.err = w.Write(b); r.err != nil {
			return
		}
	}
}

// room waits until another piece can be passed on, not for long: a process that prints faster than that is kept slows down.
func (r *raw) room() {
	if r == nil || len(r.pieces) < rawRoom {
		return
	}
	timer := time.NewTimer(rawWait)
	defer timer.Stop()
	for len(r.pieces) >= rawRoom {
		select {
		case <-r.taken:
		case <-r.done:
			return
		case <-r.hurry:
			return
		case <-timer.C:
			r.hasten() // it is stuck
			return
		}
	}
}

// hasten ends all waiting, from now on.
func (r *raw) hasten() {
	if r != nil {
		r.once.Do(func() { close(r.hurry) })
	}
}

// write passes a piece on, without waiting. It returns, once, why nothing more is kept.
func (r *raw) write(b []byte) (lost string) {
	if r == nil || r.gone || len(b) == 0 {
		return ""
	}
	select {
	case <-r.done:
	default:
		select {
		case r.pieces <- bytes.Clone(b):
			return ""
		default:
		}
	}
	close(r.pieces)
	return r.leave()
}

// end waits until all is written, and returns, if it was not said before, why it is not.
func (r *raw) end() (lost string) {
	if r == nil || r.gone {
		return ""
	}
	close(r.pieces)
	timer := time.NewTimer(rawWait)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
	case <-r.hurry:
		timer.Reset(rawLeave)
		select {
		case <-r.done:
		case <-timer.C:
		}
	}
	return r.leave()
}

// leave gives the writer up, and says why if it has not written everything.
func (r *raw) leave() string {
	r.gone = true
	select {
	case <-r.done:
		if r.err == nil {
			return ""
		}
		return "the rest of its output is not kept: " + r.err.Error()
	default:
		return "the rest of its output is not kept: it cannot be written fast enough"
	}
}
