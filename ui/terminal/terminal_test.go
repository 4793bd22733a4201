package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/ground/await"
	"orchestrator/ui"
	"orchestrator/ui/layout"
	"orchestrator/ui/paint"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"go.uber.org/goleak"
)

var (
	_ ui.Pane      = (*Model)(nil)
	_ ui.PaneStill = (*Model)(nil)
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is an attacher whose streams a test drives.
type server struct {
	mu      sync.Mutex
	streams []*stream
	fail    error
}

type stream struct {
	id      thread.ID
	out     chan []byte // what the terminal shows; closing it ends the program
	mu      sync.Mutex
	typed   []byte
	sizes   []size
	closed  bool
	readErr error
}

func (s *server) Attach(_ context.Context, id thread.ID, at api.Size) (Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	st := &stream{id: id, out: make(chan []byte, 100), sizes: []size{{at.Cols, at.Rows}}}
	s.streams = append(s.streams, st)
	return st, nil
}

func (s *server) last(t *testing.T, n int) *stream {
	t.Helper()
	var st *stream
	await.Until(t, "an attachment", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.streams) == n {
			st = s.streams[n-1]
		}
		return st != nil
	})
	return st
}

func (s *stream) Read(ctx context.Context) ([]byte, error) {
	select {
	case b, ok := <-s.out:
		if !ok {
			if s.readErr != nil {
				return nil, s.readErr
			}
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
	s.typed = append(s.typed, b...)
	return nil
}

func (s *stream) Resize(_ context.Context, at api.Size) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, size{at.Cols, at.Rows})
	return nil
}

func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *stream) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.typed)
}

// painter keeps what it was told.
type painter struct {
	mu      sync.Mutex
	pane    *paint.Pane
	changes int
}

func (p *painter) SetPane(n paint.Pane) { p.mu.Lock(); defer p.mu.Unlock(); p.pane = &n }
func (p *painter) Suspend()             { p.mu.Lock(); defer p.mu.Unlock(); p.pane = nil }
func (p *painter) Changed()             { p.mu.Lock(); defer p.mu.Unlock(); p.changes++ }

// pane is a model attached to a server, with the news loop of Bubble Tea played by hand.
type pane struct {
	*Model
	t    *testing.T
	srv  *server
	p    *painter
	next tea.Cmd
}

func newPane(t *testing.T) *pane {
	p := &pane{t: t, srv: &server{}, p: &painter{}}
	p.Model = New(p.srv, p.p)
	p.Place(paint.Box{X: 5, Y: 2, W: 20, H: 4})
	p.next = p.Show("one")
	t.Cleanup(p.Close)
	return p
}

// news plays Bubble Tea: it waits for news and hands it in.
func (p *pane) news() {
	p.t.Helper()
	if p.next == nil {
		p.t.Fatal("nothing waits for news")
	}
	got := make(chan tea.Msg, 1)
	cmd := p.next
	go func() { got <- cmd() }()
	select {
	case msg := <-got:
		p.next = p.Update(msg)
	case <-time.After(time.Minute):
		p.t.Fatal("no news")
	}
}

func (p *pane) text() (s string) {
	p.link.screen.View(func(t *vterm.Terminal) { s = t.Text() })
	return s
}

// live attaches and shows a first snapshot.
func (p *pane) live(snapshot string) *stream {
	st := p.srv.last(p.t, 1)
	st.out <- []byte(snapshot)
	p.news()
	if s, err := p.State(); s != Live {
		p.t.Fatalf("state %s, %v", s, err)
	}
	return st
}

func TestTyping(t *testing.T) {
	p := newPane(t)
	if s, _ := p.State(); s != Attaching {
		t.Errorf("state %s", s)
	}
	st := p.live("\x1bchello")
	p.Focus(true)
	p.Update(tea.KeyPressMsg{Code: 'a', Text: "a"})
	p.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	p.Update(tea.KeyPressMsg{Code: tea.KeyUp})
	p.Update(tea.KeyPressMsg{Code: tea.KeyF5})
	p.Update(tea.KeyReleaseMsg{Code: 'a'})
	p.Update(tea.PasteMsg{Content: "x\n\x1b[201~y"})
	p.Update(tea.KeyPressMsg{Code: tea.KeyExtended, Text: "漢字"})
	want := "a\x03\x1b[A\x1b[15~x\r[201~y漢字"
	await.Until(t, "what was typed", func() bool { return len(st.got()) >= len(want) })
	if got := st.got(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	st.out <- []byte("\x1b[?2004h\x1b[>3u\x1b[?1004h\x1b[?1h")
	p.news()
	if k := p.Keyboard(); !k.ReportEventTypes {
		t.Error("event types are not asked for")
	}
	p.Update(tea.PasteMsg{Content: "z"})
	p.Update(tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModShift})
	p.Update(tea.KeyReleaseMsg{Code: 'a', Text: "a"})
	p.Update(tea.BlurMsg{})
	p.Focus(false)
	want += "\x1b[200~z\x1b[201~\x1b[13;2u\x1b[97;1:3u\x1b[O\x1b[O"
	await.Until(t, "what was typed", func() bool { return len(st.got()) >= len(want) })
	if got := st.got(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestResizeWhileAttaching: the snapshot is of the size that was asked for; the pane has another one when it
// comes.
func TestResizeWhileAttaching(t *testing.T) {
	p := newPane(t)
	st := p.srv.last(t, 1)
	p.Place(paint.Box{X: 5, Y: 2, W: 10, H: 4})
	twin := vterm.New(20, 4, vterm.Options{})
	fmt.Fprint(twin, "abcdefghijklmno\r\nx")
	st.out <- twin.Snapshot(-1)
	p.news()
	if got, want := p.text(), "abcdefghij\nklmno\nx\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	await.Until(t, "the new size", func() bool {
		st.mu.Lock()
		defer st.mu.Unlock()
		return len(st.sizes) == 2 && st.sizes[0] == size{20, 4} && st.sizes[1] == size{10, 4}
	})
}

func TestScrolling(t *testing.T) {
	p := newPane(t)
	var b bytes.Buffer
	for i := range 20 {
		fmt.Fprintf(&b, "line %d\r\n", i)
	}
	st := p.live(b.String())
	p.Focus(true)
	wheel := func(button tea.MouseButton) { p.Update(tea.MouseWheelMsg{X: 6, Y: 3, Button: button}) }
	wheel(tea.MouseWheelUp)
	if p.Back() != 3 || !p.p.pane.Scrolled || p.p.pane.Top != 14 {
		t.Errorf("scrolled %d lines to %d", p.Back(), p.p.pane.Top)
	}
	p.ScrollBy(-1000)
	if p.Back() != 17 {
		t.Errorf("scrolled %d lines", p.Back())
	}
	wheel(tea.MouseWheelDown)
	if p.Back() != 14 {
		t.Errorf("scrolled %d lines", p.Back())
	}
	p.ScrollBy(1000)
	if p.Back() != 0 || p.p.pane.Scrolled {
		t.Error("not at the end")
	}
	wheel(tea.MouseWheelUp)
	p.Update(tea.KeyPressMsg{Code: 'a', Text: "a"})
	if p.Back() != 0 {
		t.Error("typing stays in the history")
	}
	st.out <- []byte("\x1b[?1049h\x1b[?1h")
	await.Until(t, "the alternate screen", func() bool { return p.Modes().AltScreen && p.Modes().AppCursor })
	wheel(tea.MouseWheelUp)
	st.out <- []byte("\x1b[?1000;1006h")
	await.Until(t, "the mouse mode", func() bool { return p.Modes().MouseEncoding == vterm.MouseSGR })
	wheel(tea.MouseWheelDown)
	p.Update(tea.MouseClickMsg{X: 7, Y: 4, Button: tea.MouseLeft})
	p.Update(tea.MouseMotionMsg{X: 8, Y: 4, Button: tea.MouseLeft})
	p.Update(tea.MouseReleaseMsg{X: 8, Y: 4, Button: tea.MouseLeft})
	p.Update(tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
	want := "a\x1bOA\x1bOA\x1bOA\x1b[<65;2;2M\x1b[<0;3;3M\x1b[<0;4;3m"
	await.Until(t, "mouse reports", func() bool { return len(st.got()) >= len(want) })
	if got := st.got(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAfresh: a screen that is sent again, of another size, replaces the one before; what is scrolled to stays.
func TestAfresh(t *testing.T) {
	p := newPane(t)
	var b bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&b, "line %d\r\n", i)
	}
	st := p.live(b.String())
	p.ScrollBy(-10)
	for _, keep := range []int{30, -1} {
		twin := vterm.New(30, 4, vterm.Options{})
		_, _ = twin.Write(b.Bytes())
		st.out <- append([]byte("\x1b[8;4;30t"), twin.Snapshot(keep)...)
		p.news()
		if p.Back() != 10 {
			t.Errorf("scrolled %d lines", p.Back())
		}
		p.link.screen.View(func(term *vterm.Terminal) {
			var got []byte
			cells, _ := term.Line(nil, p.p.pane.Top)
			for _, c := range cells {
				got = c.AppendText(got)
			}
			if string(bytes.TrimSpace(got)) != "line 27" {
				t.Errorf("scrolled to %q", got)
			}
			if cols, rows := term.Size(); cols != 20 || rows != 4 {
				t.Errorf("the terminal is %d by %d", cols, rows)
			}
		})
	}
	st.out <- []byte("\x1b[8;10;10tx")
	await.Until(t, "text", func() bool { return p.text() == "line 37\nline 38\nline 39\nx" })
}

func TestStill(t *testing.T) {
	p := newPane(t)
	p.live("one 漢 😀 e\u0301x\r\n⌚⎿\x1b[31mtwo\x1b[m")
	var c layout.Canvas
	c.Reset(20, 3)
	p.Still(&c, layout.Box{X: 1, Y: 1, W: 12, H: 2}, lipgloss.NewStyle())
	term := vterm.New(20, 3, vterm.Options{})
	_, _ = term.Write([]byte(strings.ReplaceAll(c.String(), "\n", "\r\n")))
	if got, want := term.Text(), "\n one 漢     x\n   ⎿two"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSelection(t *testing.T) {
	p := newPane(t)
	p.live("one two three\r\nfour five")
	at := func(x, y int) (m tea.Mouse) { return tea.Mouse{X: 5 + x, Y: 2 + y, Button: tea.MouseLeft} }
	drag := func(x1, y1, x2, y2 int) tea.Cmd {
		p.Update(tea.MouseClickMsg(at(x1, y1)))
		p.Update(tea.MouseMotionMsg(at(x2, y2)))
		return p.Update(tea.MouseReleaseMsg(at(x2, y2)))
	}
	if cmd := drag(4, 0, 3, 1); cmd == nil {
		t.Error("nothing is copied")
	}
	if got := p.Selected(); got != "two three\nfour" {
		t.Errorf("selected %q", got)
	}
	if p.p.pane.Selection == nil {
		t.Error("the selection is not shown")
	}
	if cmd := drag(3, 1, 3, 1); cmd != nil || p.Selected() != "" {
		t.Errorf("a click selects %q", p.Selected())
	}
	for _, want := range []string{"", "two", "one two three"} {
		p.Update(tea.MouseClickMsg(at(5, 0)))
		p.Update(tea.MouseReleaseMsg(at(5, 0)))
		if got := p.Selected(); got != want {
			t.Errorf("clicked to %q, want %q", got, want)
		}
	}
}

func TestStates(t *testing.T) {
	p := newPane(t)
	st := p.live("screen\x1b]2;title\x07")
	if p.Title() != "title" || p.Thread() != "one" {
		t.Errorf("title %q of %s", p.Title(), p.Thread())
	}
	p.Suspend(true)
	if p.p.pane != nil {
		t.Error("painted while covered")
	}
	p.Suspend(false)
	close(st.out)
	p.news()
	if s, err := p.State(); s != Ended || err != nil {
		t.Errorf("state %s, %v", s, err)
	}
	if p.p.pane == nil || p.p.pane.Cursor {
		t.Error("the last screen does not stay, or has a cursor")
	}
	if p.next != nil {
		t.Error("somebody waits for news of an ended terminal")
	}
	p.next = p.Show("two")
	old := NewsMsg{from: &link{}}
	if cmd := p.Update(old); cmd != nil {
		t.Error("old news is followed")
	}
	two := p.srv.last(t, 2)
	two.mu.Lock()
	two.readErr = errors.New("broken")
	two.mu.Unlock()
	close(two.out)
	p.news()
	if s, err := p.State(); s != Failed || err == nil {
		t.Errorf("state %s, %v", s, err)
	}
	if p.p.pane != nil {
		t.Error("a screen is painted that never came")
	}
	p.srv.fail = errors.New("no such thread")
	p.next = p.Show("three")
	p.news()
	if s, err := p.State(); s != Failed || !errors.Is(err, p.srv.fail) {
		t.Errorf("state %s, %v", s, err)
	}
	p.Show("")
	if s, _ := p.State(); s != Idle {
		t.Errorf("state %s", s)
	}
}

func TestNothingAttached(t *testing.T) {
	m := New(&server{}, &painter{})
	m.Focus(true)
	m.ScrollBy(-3)
	m.Place(paint.Box{W: 10, H: 3})
	for _, msg := range []tea.Msg{tea.KeyPressMsg{Code: 'a', Text: "a"}, tea.PasteMsg{Content: "x"},
		tea.MouseClickMsg{Button: tea.MouseLeft}, tea.FocusMsg{}} {
		if cmd := m.Update(msg); cmd != nil {
			t.Errorf("%T does something", msg)
		}
	}
	if m.Title() != "" || m.Selected() != "" || m.Back() != 0 {
		t.Error("there is something")
	}
}
