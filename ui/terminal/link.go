package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// maxQueued limits the input queued for a terminal that does not read.
const maxQueued = 1 << 20

// link is an attachment to a terminal. It has two goroutines: one feeds the screen and one sends input. Both end with
// close.
type link struct {
	id     thread.ID
	screen *screen
	paint  Painter
	cancel context.CancelFunc

	news chan struct{} // capacity 1: the state has changed
	wake chan struct{} // capacity 1: the queue is not empty

	mu     sync.Mutex // guards all below; nothing is called while it is held
	queue  []byte
	size   size
	watch  bool // the terminal is only watched, and has the size that others give it
	sized  bool // size and watch have to be sent
	live   bool
	ended  bool
	err    error
	closed bool
}

type size struct{ cols, rows int }

// screen is the client's copy of a terminal.
type screen struct {
	mu   sync.Mutex // guards the next four; the painter takes it inside its own lock
	term *vterm.Terminal
	// moved is by how much line numbers have changed in total because the terminal was replaced; was is where the screen
	// started before.
	moved, was int64

	modes atomic.Pointer[vterm.Modes] // as of the last write, readable without locking
	title atomic.Pointer[string]
	clip  atomic.Pointer[string] // what the program wants to put on the clipboard, until it is asked about
	done  atomic.Int32           // the progress that the program reports, in percent plus 1; 0 is none
}

func newScreen(s size) *screen {
	sc := &screen{}
	sc.term = vterm.New(s.cols, s.rows, vterm.Options{Event: sc.event})
	sc.publish()
	return sc
}

// begin replaces the terminal with a new one, and renumbers its lines. mu is held.
func (s *screen) begin(of size) {
	s.was = int64(s.end())
	s.term = vterm.New(of.cols, of.rows, vterm.Options{Event: s.event})
}

// event takes what the program reports. mu is held.
func (s *screen) event(e vterm.Event) {
	switch e := e.(type) {
	case vterm.Clipboard:
		s.clip.Store(&e.Text)
	case vterm.Progress:
		s.done.Store(0)
		if e.State == 1 || e.State == 2 || e.State == 4 {
			s.done.Store(int32(e.Percent) + 1)
		}
	}
}

// end returns the number of the screen's first line. mu is held.
func (s *screen) end() uint64 { return s.term.FirstLine() + uint64(s.term.History()) }

// settled returns where the screen begins, in numbers that do not change when lines are renumbered. mu is held.
func (s *screen) settled() int64 { return int64(s.end()) - s.moved }

// View implements paint.Source.
func (s *screen) View(f func(*vterm.Terminal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.term)
}

// publish makes modes and title readable, and reports whether anything that the root draws has changed.
func (s *screen) publish() (changed bool) {
	m, title := s.term.Modes(), s.term.Title()
	old, oldTitle := s.modes.Load(), s.title.Load()
	if old == nil || *old != m {
		changed = old == nil || old.Mouse != m.Mouse || old.Kitty != m.Kitty
		s.modes.Store(&m)
	}
	if oldTitle == nil || *oldTitle != title {
		changed = true
		s.title.Store(&title)
	}
	return changed
}

func openLink(a Attacher, p Painter, id thread.ID, s size, watch bool) *link {
	ctx, cancel := context.WithCancel(context.Background())
	l := &link{
		id: id, screen: newScreen(s), paint: p, cancel: cancel, size: s, watch: watch,
		news: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	go l.run(ctx, a, s, watch)
	return l
}

// run attaches, reads until the end and cleans up.
func (l *link) run(ctx context.Context, a Attacher, s size, watch bool) {
	defer l.cancel()
	stream, err := a.Attach(ctx, l.id, api.Size{Cols: s.cols, Rows: s.rows, Watch: watch})
	if err != nil {
		l.end(fmt.Errorf("attach to the terminal: %w", err))
		return
	}
	var sender sync.WaitGroup
	sender.Go(func() { l.send(ctx, stream) })
	err = l.read(ctx, stream, s)
	l.cancel()
	_ = stream.Close() // reading has already ended, with or without an error
	sender.Wait()
	l.end(err)
}

// read feeds the screen. The first piece is a snapshot of the requested size.
func (l *link) read(ctx context.Context, stream Stream, asked size) error {
	first := true
	for {
		b, err := stream.Read(ctx)
		if len(b) > 0 {
			l.feed(b, first, asked)
			first = false
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the terminal: %w", err)
		}
	}
}

func (l *link) feed(b []byte, first bool, asked size) {
	l.mu.Lock()
	l.live = true
	now, watch := l.size, l.watch
	l.mu.Unlock()
	of, whole := wholeScreen(b)
	if first && !whole {
		of, whole = asked, true
	}
	sc := l.screen
	sc.mu.Lock()
	if whole {
		sc.begin(of)
	}
	done := sc.done.Load()
	_, _ = sc.term.Write(b)
	if whole {
		if !watch {
			sc.term.Resize(now.cols, now.rows)
		}
		sc.moved += int64(sc.end()) - sc.was
	}
	changed := sc.publish() || sc.done.Load() != done || sc.clip.Load() != nil
	sc.mu.Unlock()
	if changed || whole {
		l.tell()
	}
	l.paint.Changed()
}

// wholeScreen reports whether bytes start a complete new screen, and its size: CSI 8 t with the size, then a reset.
func wholeScreen(b []byte) (s size, ok bool) {
	head, _, ok := bytes.Cut(b[:min(len(b), 32)], []byte("t\x1bc"))
	if !ok {
		return s, false
	}
	n, err := fmt.Sscanf(string(head), "\x1b[8;%d;%d", &s.rows, &s.cols)
	return s, err == nil && n == 2
}

// tell makes the root check the state.
func (l *link) tell() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

func (l *link) end(err error) {
	l.mu.Lock()
	l.ended, l.live = true, false
	if !l.closed {
		l.err = err
	}
	l.mu.Unlock()
	l.tell()
}

// send sends the queue in order: a size before the input that follows it.
func (l *link) send(ctx context.Context, stream Stream) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		l.mu.Lock()
		b, s, watch, sized := l.queue, l.size, l.watch, l.sized
		l.queue, l.sized = nil, false
		l.mu.Unlock()
		if sized {
			if err := stream.Resize(ctx, api.Size{Cols: s.cols, Rows: s.rows, Watch: watch}); err != nil {
				return // reading fails too, and reports it
			}
		}
		if len(b) > 0 {
			if err := stream.Write(ctx, b); err != nil {
				return
			}
		}
	}
}

func (l *link) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// typed queues bytes for the program. They are lost if it has ended, or does not read for very long.
func (l *link) typed(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(b) == 0 || l.ended || l.closed || len(l.queue)+len(b) > maxQueued {
		return
	}
	l.queue = append(l.queue, b...)
	l.wakeUp()
}

// resize changes the size here immediately, unless the terminal is only watched, and on the server when the queue gets
// to it.
func (l *link) resize(s size, watch bool) {
	l.mu.Lock()
	if l.size == s && l.watch == watch {
		l.mu.Unlock()
		return
	}
	l.size, l.watch, l.sized = s, watch, true
	live := l.live
	l.mu.Unlock()
	if live && !watch {
		l.screen.View(func(t *vterm.Terminal) { t.Resize(s.cols, s.rows) })
	}
	l.wakeUp()
}

func (l *link) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
}

// state returns the state of the attachment.
func (l *link) state() (State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended && l.err != nil:
		return Failed, l.err
	case l.ended:
		return Ended, nil
	case l.live:
		return Live, nil
	}
	return Attaching, nil
}
