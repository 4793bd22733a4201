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

// Attach adds a viewer, whose size the terminal gets. The first bytes are the whole screen. A session that has ended
// shows its last screen.
func (s *Session) Attach(cols, rows int) *Viewer {
	f := &feed{ready: make(chan struct{}, 1), cols: cols, rows: rows}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feeds = append(s.feeds, f)
	s.watched.Add(1)
	f.restart(s.exit != nil)
	s.activate(f)
	return &Viewer{s: s, feed: f}
}

// Next waits for bytes and returns them; they are the caller's until the next call. io.EOF means that the agent has
// ended or the viewer was closed. A whole screen begins with the terminal's size, as CSI 8 t.
func (v *Viewer) Next(ctx context.Context) ([]byte, error) {
	for {
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

// take returns what is to be shown now, nothing if there is nothing.
func (v *Viewer) take() ([]byte, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.feed.closed {
		return nil, io.EOF
	}
	whole := v.feed.whole
	b := v.feed.take(v.s.screen.term)
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

// Input passes bytes on as typed. The terminal gets the size of the viewer that typed last.
func (v *Viewer) Input(b []byte) error {
	v.s.mu.Lock()
	if v.s.active != v.feed && !v.feed.closed {
		v.s.activate(v.feed)
	}
	v.s.mu.Unlock()
	return v.s.Input(b)
}

// Resize sets the viewer's size, which the terminal gets.
func (v *Viewer) Resize(cols, rows int) error {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.feed.closed || cols < 1 || rows < 1 {
		return nil
	}
	v.feed.cols, v.feed.rows = cols, rows
	v.s.active = v.feed
	return v.s.resize(cols, rows)
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
		if n := len(s.feeds); n > 0 {
			s.activate(s.feeds[n-1])
		}
	}
}
