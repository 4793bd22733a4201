package session

import (
	"fmt"
	"time"

	"orchestrator/agent/vterm"
)

const (
	// maxQueue is how many bytes may wait for a viewer before it gets the whole screen instead.
	maxQueue = 1 << 20
	// keepQueue is the largest buffer that is kept for the next bytes.
	keepQueue = 64 << 10
	// allLines asks the emulator for its whole history.
	allLines = -1
	// watchQueue is maxQueue for a viewer that only watches.
	watchQueue = 64 << 10
	// hurryLines is how much of the history is sent with a screen at once; the rest follows when the output pauses,
	// because 10,000 lines take longer than a person wants to wait for a screen.
	hurryLines = 200
)

// feed holds what waits for a viewer: output, or the whole screen. The session's mu guards it and is held when its
// methods are called.
type feed struct {
	ready chan struct{} // contains an element if there may be something new
	hurry chan struct{} // contains one if a pause is over before its time

	cols, rows int // the viewer's size
	queue      []byte
	out        []byte    // what take returned last, to be reused
	whole      bool      // the next bytes are the whole screen
	lines      int       // with that many lines of history
	thin       bool      // it lacks history
	watches    bool      // it only watches
	took       time.Time // when it was given something last, if it watches
	closed     bool
}

// add queues output.
func (f *feed) add(b []byte) {
	most := maxQueue
	if f.watches {
		most = watchQueue
	}
	switch {
	case f.whole:
		return // the screen that it gets will contain it
	case len(f.queue)+len(b) > most:
		f.restart(false)
		return
	}
	f.queue = append(f.queue, b...)
	f.wake()
}

// restart makes the next bytes the whole screen, with all of the history or with as much as can be sent quickly.
func (f *feed) restart(all bool) {
	if !f.whole || all {
		f.lines = hurryLines
		switch {
		case all:
			f.lines = allLines
		case f.watches:
			f.lines = 0 // it comes when the output pauses
		}
	}
	f.whole, f.queue = true, nil
	f.wake()
}

// fill sends the viewer the history that it lacks.
func (f *feed) fill() {
	if f.thin && !f.whole {
		f.thin = false
		f.restart(true)
	}
}

// hasten ends a pause of the viewer.
func (f *feed) hasten() {
	select {
	case f.hurry <- struct{}{}:
	default:
	}
}

// wake makes the viewer look again.
func (f *feed) wake() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// take returns what waits, if anything: the whole screen, which begins with the terminal's size, or output.
func (f *feed) take(t *vterm.Terminal) []byte {
	if cap(f.out) > keepQueue {
		f.out = nil
	}
	switch {
	case f.whole:
		f.whole, f.thin = false, f.lines >= 0 && t.History() > f.lines
		cols, rows := t.Size()
		return append(fmt.Appendf(nil, "\x1b[8;%d;%dt", rows, cols), t.Snapshot(f.lines)...)
	case len(f.queue) > 0:
		b := f.queue
		f.queue, f.out = f.out[:0], b
		return b
	}
	return nil
}

// close drops what waits.
func (f *feed) close() {
	f.closed, f.queue, f.out = true, nil, nil
	f.wake()
	f.hasten()
}
