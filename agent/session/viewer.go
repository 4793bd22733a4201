package session

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

const (
	// maxQueue is how many bytes wait for a viewer before it gets the screen afresh instead.
	maxQueue = 1 << 20
	// keepQueue is the largest buffer that is kept for the next bytes.
	keepQueue = 64 << 10
	// allLines asks the emulator for its whole history.
	allLines = -1
	// hurryLines is how much of the history comes with a screen at once; the rest follows when the
	// output pauses, because 10,000 lines take longer than a person wants to wait for a picture.
	hurryLines = 200
)

// Viewer is one look at a session's terminal: bytes that bring an emulator of the session's size to the
// same screen, and what is typed back. Next is for one goroutine, the rest for any.
type Viewer struct {
	s     *Session
	ready chan struct{} // holds one when there may be something new

	// All below is guarded by the session's mu.
	cols, rows int
	queue      []byte
	out        []byte // what Next returned last, to be used again
	afresh     bool   // the next bytes are the whole screen
	lines      int    // with that many lines of history
	thin       bool   // it lacks history
	closed     bool
}

// Attach adds a viewer, whose size the terminal takes. The first bytes are the whole screen. A session
// that has ended shows its last screen.
func (s *Session) Attach(cols, rows int) *Viewer {
	v := &Viewer{s: s, ready: make(chan struct{}, 1), cols: cols, rows: rows}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewers = append(s.viewers, v)
	s.watched.Add(1)
	v.restart(s.exit != nil)
	v.activate()
	return v
}

// Next waits for bytes and returns them; they are the caller's until the next call. io.EOF means that the
// agent has ended or the viewer was closed. A whole screen begins with the terminal's size, as CSI 8 t.
func (v *Viewer) Next(ctx context.Context) ([]byte, error) {
	for {
		b, err := v.take()
		if err != nil || len(b) > 0 {
			return b, err
		}
		select {
		case <-v.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (v *Viewer) take() ([]byte, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if cap(v.out) > keepQueue {
		v.out = nil
	}
	switch {
	case v.closed:
		return nil, io.EOF
	case v.afresh:
		v.afresh, v.thin = false, v.lines >= 0 && v.s.term.History() > v.lines
		if now := time.Now(); v.thin && v.s.exit == nil && (v.s.armed.IsZero() || v.s.armed.After(now.Add(quiet))) {
			v.s.arm(now.Add(quiet))
		}
		cols, rows := v.s.term.Size()
		return append(fmt.Appendf(nil, "\x1b[8;%d;%dt", rows, cols), v.s.term.Snapshot(v.lines)...), nil
	case len(v.queue) > 0:
		b := v.queue
		v.queue, v.out = v.out[:0], b
		return b, nil
	case v.s.exit != nil:
		return nil, io.EOF
	default:
		return nil, nil
	}
}

// add queues output. The session's mu is held.
func (v *Viewer) add(b []byte) {
	switch {
	case v.afresh:
		return // the screen it gets will hold it
	case len(v.queue)+len(b) > maxQueue:
		v.restart(false)
		return
	}
	v.queue = append(v.queue, b...)
	v.wake()
}

// restart makes the next bytes the whole screen, with all of the history or what is quickly given. The
// session's mu is held.
func (v *Viewer) restart(whole bool) {
	if !v.afresh || whole {
		v.lines = hurryLines
		if whole {
			v.lines = allLines
		}
	}
	v.afresh, v.queue = true, nil
	v.wake()
}

// fill gives a viewer the history that it lacks. The session's mu is held.
func (v *Viewer) fill() {
	if v.thin && !v.afresh {
		v.thin = false
		v.restart(true)
	}
}

func (v *Viewer) wake() {
	select {
	case v.ready <- struct{}{}:
	default:
	}
}

// activate makes the terminal take this viewer's size. The session's mu is held.
func (v *Viewer) activate() {
	v.s.active = v
	_ = v.s.resize(v.cols, v.rows) // the agent has ended otherwise
}

// Input passes bytes on as typed. The terminal takes the size of who typed last.
func (v *Viewer) Input(b []byte) error {
	v.s.mu.Lock()
	if v.s.active != v && !v.closed {
		v.activate()
	}
	v.s.mu.Unlock()
	return v.s.Input(b)
}

// Resize tells the viewer's size, which the terminal takes.
func (v *Viewer) Resize(cols, rows int) error {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.closed || cols < 1 || rows < 1 {
		return nil
	}
	v.cols, v.rows = cols, rows
	v.s.active = v
	return v.s.resize(cols, rows)
}

// Close leaves the terminal.
func (v *Viewer) Close() {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.closed {
		return
	}
	v.closed, v.queue, v.out = true, nil, nil
	v.s.viewers = slices.DeleteFunc(v.s.viewers, func(o *Viewer) bool { return o == v })
	v.s.watched.Add(-1)
	v.wake()
	if v.s.active == v {
		v.s.active = nil
		if n := len(v.s.viewers); n > 0 {
			v.s.viewers[n-1].activate()
		}
	}
}
