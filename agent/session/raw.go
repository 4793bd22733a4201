package session

import (
	"bytes"
	"io"
	"time"
)

const (
	// rawQueue is how many pieces of output may wait for the writer that keeps them.
	rawQueue = 32
	// rawWait is how long a full queue, and then the end, waits for it.
	rawWait = 2 * time.Second
)

// raw passes on what a process prints to a writer that keeps it, which may be slow, full or stuck. Its methods are called
// by one goroutine at a time.
type raw struct {
	pieces chan []byte
	done   chan struct{} // closed when nothing more is written
	err    error         // valid once done is closed
	gone   bool          // nothing is passed on any more
}

// newRaw returns one for a writer, nil for none.
func newRaw(w io.Writer) *raw {
	if w == nil {
		return nil
	}
	r := &raw{pieces: make(chan []byte, rawQueue), done: make(chan struct{})}
	go r.run(w)
	return r
}

// run writes until there is no more, or it fails.
func (r *raw) run(w io.Writer) {
	defer close(r.done)
	for b := range r.pieces {
		if _, r.err = w.Write(b); r.err != nil {
			return
		}
	}
}

// write passes a piece on. It returns, once, why nothing more is kept.
func (r *raw) write(b []byte) (lost string) {
	if r == nil || r.gone || len(b) == 0 {
		return ""
	}
	piece := bytes.Clone(b)
	select {
	case r.pieces <- piece:
		return ""
	case <-r.done:
		return r.leave()
	default:
	}
	timer := time.NewTimer(rawWait)
	defer timer.Stop()
	select {
	case r.pieces <- piece:
		return ""
	case <-r.done:
	case <-timer.C:
	}
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
		if r.gone = true; r.err == nil {
			return ""
		}
	case <-timer.C:
	}
	return r.leave()
}

// leave gives the writer up, and says why.
func (r *raw) leave() string {
	r.gone = true
	select {
	case <-r.done:
		return "the rest of its output is not kept: " + r.err.Error()
	default:
		return "the rest of its output is not kept: it cannot be written fast enough"
	}
}
