package session

import (
	"context"
	"io"
	"slices"
	"time"
)

// Viewer shows a session's terminal: it returns bytes that bring an emulator of the session's size to the same screen,
// and accepts input. Next is for one goroutine, the other methods for any.
type Viewer struct {
	s    *Session
	feed *feed
}

const (
	// watchPause is how often a viewer that only watches gets something at most.
	watchPause = 30 * time.Millisecond
	// floodPause is how often, while more is printed than it gets: nobody can read that, and it costs no more than what
	// is printed now and then.
	floodPause = 100 * time.Millisecond
)

// Attach adds a viewer, whose size the terminal gets; one that only watches if watch is set. The first bytes are the
// whole screen. A session that has ended shows its last screen.
//
// The terminal has the size of the viewer that was attached, resized or typed into last. One that only watches, because
// its person works in another terminal beside it, has a say only while no other shows the terminal in full, and none
// that watches too is larger: an agent does not redraw, and is not cut, for someone who only watches. It gets bytes
// for whatever size the terminal has.
func (s *Session) Attach(cols, rows int, watch bool) *Viewer {
	f := &feed{ready: make(chan struct{}, 1), hurry: make(chan struct{}, 1), cols: cols, rows: rows, watches: watch}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feeds = append(s.feeds, f)
	s.watched.Add(1)
	f.restart(s.exit != nil)
	if s.decides(f) {
		s.activate(f)
	}
	return &Viewer{s: s, feed: f}
}

// Next waits for bytes and returns them; they are the caller's until the next call. io.EOF means that the agent has
// ended or the viewer was closed. A whole screen begins with the terminal's size, as CSI 8 t.
func (v *Viewer) Next(ctx context.Context) ([]byte, error) {
	for {
		if err := v.rest(ctx); err != nil {
			return nil, err
		}
		b, err := v.take()
		if err != nil || len(b) > 0 {
			return b, err
		}
		select {
		case <-v.feed.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// rest waits, if the viewer only watches, until it may get something again.
func (v *Viewer) rest(ctx context.Context) error {
	for wait := v.pause(); wait > 0; wait = v.pause() {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-v.feed.hurry:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
	return nil
}

// pause returns how long the viewer has to wait.
func (v *Viewer) pause() time.Duration {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	switch f := v.feed; {
	case !f.watches || f.closed:
		return 0
	case f.whole:
		return floodPause - time.Since(f.took)
	default:
		return watchPause - time.Since(f.took)
	}
}

// take returns what is to be shown now, nothing if there is nothing.
func (v *Viewer) take() ([]byte, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.feed.closed {
		return nil, io.EOF
	}
	whole := v.feed.whole
	b := v.feed.take(v.s.screen.term)
	if len(b) > 0 && v.feed.watches {
		v.feed.took = time.Now()
	}
	switch {
	case whole && v.feed.thin && v.s.exit == nil:
		v.s.armBefore(time.Now().Add(quiet))
	case len(b) == 0 && v.s.exit != nil:
		return nil, io.EOF
	}
	return b, nil
}

// activate sets the terminal to a viewer's size. mu is held.
func (s *Session) activate(f *feed) {
	s.active = f
	_ = s.resize(f.cols, f.rows) // it fails only if the agent has ended
}

// decides reports whether a viewer has a say in the terminal's size. mu is held.
func (s *Session) decides(f *feed) bool {
	return !f.watches || !slices.ContainsFunc(s.feeds, func(o *feed) bool {
		return o != f && (!o.watches || o.cols > f.cols || o.rows > f.rows)
	})
}

// settle gives the terminal the size of the last viewer that has a say, because another one has given up its own. mu is
// held.
func (s *Session) settle() {
	for _, full := range []bool{true, false} {
		for _, f := range slices.Backward(s.feeds) {
			if f.watches != full && s.decides(f) {
				s.activate(f)
				return
			}
		}
	}
}

// Input passes bytes on as typed. The terminal gets the size of the viewer that typed last, unless it only watches.
func (v *Viewer) Input(b []byte) error {
	v.s.mu.Lock()
	if v.s.active != v.feed && !v.feed.closed && !v.feed.watches {
		v.s.activate(v.feed)
	}
	v.s.mu.Unlock()
	return v.s.Input(b)
}

// Resize sets the viewer's size, which the terminal gets if the viewer has a say, and whether it only watches.
func (v *Viewer) Resize(cols, rows int, watch bool) error {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.feed.closed || cols < 1 || rows < 1 {
		return nil
	}
	f := v.feed
	f.cols, f.rows = cols, rows
	if f.watches != watch {
		f.watches = watch
		f.hasten()
	}
	if v.s.decides(f) {
		v.s.active = f
		return v.s.resize(cols, rows)
	}
	if v.s.active == f {
		v.s.active = nil
		v.s.settle()
	}
	return nil
}

// Close removes the viewer.
func (v *Viewer) Close() {
	s, f := v.s, v.feed
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.closed {
		return
	}
	f.close()
	s.feeds = slices.DeleteFunc(s.feeds, func(o *feed) bool { return o == f })
	s.watched.Add(-1)
	if s.active == f {
		s.active = nil
		s.settle()
	}
}
