package group

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/ground/await"
	"orchestrator/ui/follow"
	"orchestrator/ui/layout"
	"orchestrator/ui/paint"
	"orchestrator/ui/terminal"

	tea "charm.land/bubbletea/v2"
)

// server attaches terminals that show what a test gives them.
type server struct {
	mu      sync.Mutex
	streams []*stream
	refused thread.ID // cannot be attached
}

type stream struct {
	id     thread.ID
	out    chan []byte
	mu     sync.Mutex
	typed  string
	said   []api.Size
	closed bool
}

func (s *server) Attach(_ context.Context, id thread.ID, size api.Size) (terminal.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == s.refused {
		return nil, errors.New("it has no terminal")
	}
	st := &stream{id: id, out: make(chan []byte, 100), said: []api.Size{size}}
	st.out <- []byte(string(id))
	s.streams = append(s.streams, st)
	return st, nil
}

// open returns the streams that are open, by thread.
func (s *server) open() map[thread.ID]*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[thread.ID]*stream{}
	for _, st := range s.streams {
		st.mu.Lock()
		if !st.closed {
			out[st.id] = st
		}
		st.mu.Unlock()
	}
	return out
}

func (s *stream) Read(ctx context.Context) ([]byte, error) {
	select {
	case b, ok := <-s.out:
		if !ok {
			return nil, io.EOF
		}
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *stream) Write(_ context.Context, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.typed += string(b)
	return nil
}

func (s *stream) Resize(_ context.Context, size api.Size) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, size)
	return nil
}

func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// last returns the last size that the stream was told.
func (s *stream) last() api.Size {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said[len(s.said)-1]
}

// painter notes what is painted.
type painter struct {
	mu  sync.Mutex
	box layout.Box
}

func (p *painter) SetPane(pane paint.Pane) { p.put(pane.Box) }
func (p *painter) Suspend()                { p.put(layout.Box{}) }
func (p *painter) Changed()                {}
func (p *painter) put(b layout.Box) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.box = b
}

// fixture is a group; messages of its terminals are taken as they come.
type fixture struct {
	*Group
	t        *testing.T
	srv      *server
	painters []*painter
	news     chan tea.Msg
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, srv: &server{}, news: make(chan tea.Msg, 100)}
	f.Group = New(func() *terminal.Model {
		p := &painter{}
		f.painters = append(f.painters, p)
		return terminal.New(f.srv, p)
	})
	t.Cleanup(f.Close)
	return f
}

func (f *fixture) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				f.run(c)
			}
		default:
			f.news <- msg
		}
	}()
}

var boxes = []layout.Box{{X: 0, W: 40, H: 10}, {X: 41, W: 40, H: 10}, {X: 0, Y: 11, W: 40, H: 10}, {X: 41, Y: 11, W: 40, H: 10}}

// arrange shows the first thread in the first box, and the others beside it.
func (f *fixture) arrange(tell bool, ids ...thread.ID) {
	var others []follow.Watched
	for i, id := range ids[1:] {
		others = append(others, follow.Watched{Selection: follow.Selection{ID: id, Run: thread.ExecutionID("run-" + id)}, Box: boxes[i+1]})
	}
	f.Beside(others, false)
	f.Place(boxes[0])
	if tell {
		f.run(f.Show(ids[0]))
	}
	f.run(f.Arrange())
}

// must waits until these threads are attached, each once, the first as what is worked in, and the others as watched.
func (f *fixture) must(ids ...thread.ID) {
	f.t.Helper()
	await.Until(f.t, fmt.Sprint("attached are ", ids), func() bool {
		open := f.srv.open()
		if len(open) != len(ids) {
			return false
		}
		for i, id := range ids {
			if s := open[id]; s == nil || s.last() != (api.Size{Cols: 40, Rows: 10, Watch: i > 0}) {
				return false
			}
		}
		return true
	})
}

func TestGroup(t *testing.T) {
	f := newFixture(t)
	f.arrange(true, "a", "b", "c", "d")
	f.must("a", "b", "c", "d")
	if n := len(f.srv.streams); n != 4 {
		t.Fatalf("%d attachments", n)
	}
	f.Focus(true)
	f.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})

	f.arrange(true, "b", "a", "c", "d") // another one is worked in: nothing is attached anew
	f.must("b", "a", "c", "d")
	f.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
	typed := func(id thread.ID) string {
		s := f.srv.open()[id]
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.typed
	}
	await.Until(t, "each key in its terminal", func() bool { return typed("a") == "x" && typed("b") == "y" })
	if typed("c")+typed("d") != "" || len(f.srv.streams) != 4 {
		t.Errorf("others got %q %q, %d attachments", typed("c"), typed("d"), len(f.srv.streams))
	}

	f.arrange(true, "e", "b", "a", "c") // d is no longer shown
	f.must("e", "b", "a", "c")
	f.arrange(false, "e") // alone
	f.must("e")
	f.arrange(true, "f")
	f.must("f")
	if n := len(f.painters); n > 5 {
		t.Errorf("%d terminals were made", n)
	}
}

// TestEndedBeside: a watched agent that ends keeps its last screen, and one that is started again is attached again.
func TestEndedBeside(t *testing.T) {
	f := newFixture(t)
	f.arrange(true, "a", "b")
	f.must("a", "b")
	close(f.srv.open()["b"].out)
	await.Until(t, "the end", func() bool { return len(f.srv.open()) == 1 })
	f.arrange(false, "a", "b")
	if n := len(f.srv.streams); n != 2 {
		t.Errorf("what has ended is attached again: %d attachments", n)
	}
	f.Beside([]follow.Watched{{Selection: follow.Selection{ID: "b", Run: "another"}, Box: boxes[1]}}, false)
	f.run(f.Arrange())
	f.must("a", "b")
	f.run(f.Show("a")) // all is attached again, as after a lost connection
	f.run(f.Arrange())
	await.Until(t, "all again", func() bool { f.srv.mu.Lock(); defer f.srv.mu.Unlock(); return len(f.srv.streams) == 5 })
}

// TestAside: what is beside the current terminal says how far it is scrolled back, and why there is nothing of it.
func TestAside(t *testing.T) {
	f := newFixture(t)
	f.srv.refused = "c"
	f.arrange(true, "a", "b", "c")
	f.must("a", "b")
	await.Until(t, "the refusal", func() bool { _, err := f.Aside("c"); return err != nil })
	f.srv.open()["b"].out <- []byte(strings.Repeat("line\r\n", 100))
	wheel := tea.MouseWheelMsg{X: boxes[1].X, Y: boxes[1].Y, Button: tea.MouseWheelUp}
	await.Until(t, "lines to scroll", func() bool { f.run(f.Update(wheel)); back, _ := f.Aside("b"); return back > 0 })
	for _, id := range []thread.ID{"a", "nobody", ""} {
		if back, err := f.Aside(id); back != 0 || err != nil {
			t.Errorf("%q: %d, %v", id, back, err)
		}
	}
}

// TestHiddenBeside: what covers the screen covers all terminals.
func TestHiddenBeside(t *testing.T) {
	f := newFixture(t)
	f.arrange(true, "a", "b", "c")
	f.must("a", "b", "c")
	shown := func() (n int) {
		for done := false; !done; {
			select {
			case msg := <-f.news:
				f.run(f.Update(msg))
			default:
				done = true
			}
		}
		for _, p := range f.painters {
			p.mu.Lock()
			if slices.Contains(boxes, p.box) {
				n++
			}
			p.mu.Unlock()
		}
		return n
	}
	await.Until(t, "all on the screen", func() bool { return shown() == 3 })
	f.Beside(f.others, true)
	f.Suspend(true)
	f.run(f.Arrange())
	if n := shown(); n != 0 {
		t.Errorf("%d are painted over what covers them", n)
	}
	f.Beside(f.others, false)
	f.Suspend(false)
	f.run(f.Arrange())
	await.Until(t, "all back on the screen", func() bool { return shown() == 3 })
	for id, st := range f.srv.open() { // in whichever order they were attached
		st.mu.Lock()
		watched := strings.Contains(fmt.Sprint(st.said), "true")
		st.mu.Unlock()
		if watched != (id != "a") {
			t.Errorf("%s is watched: %t", id, watched)
		}
	}
}
