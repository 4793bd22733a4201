package session_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/agent"
	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

func TestMain(m *testing.M) {
	if mode, is := os.LookupEnv("ASKER"); is {
		asker(mode)
	}
	goleak.VerifyTestMain(m)
}

// deadline is how long anything is awaited before a test gives up.
const deadline = 60 * time.Second

var rules = []agent.Rule{
	{State: thread.StateApproval, Pattern: regexp.MustCompile(`Allow\?`), Lines: 4, Detail: "approval dialog"},
	{State: thread.StateWorking, Pattern: regexp.MustCompile(`^busy`), Lines: agent.InTitle, Detail: "busy title"},
	{State: thread.StateIdle, Pattern: regexp.MustCompile(`(?m)^> ?$`), Lines: 3, Detail: "prompt"},
}

func sessions(t testing.TB) *session.Sessions { return sessionsWith(t, rules) }

// inputOf finds an input behind "> " in the row of the cursor.
func inputOf(t *vterm.Terminal) (agent.Input, bool) {
	text, ok := strings.CutPrefix(t.RowText(t.Cursor().Y), ">")
	return agent.Input{Text: strings.TrimSpace(text)}, ok
}

// sessionsThatShow returns sessions whose agents show their input behind "> ".
func sessionsThatShow(t testing.TB) *session.Sessions {
	s := session.New(session.Config{
		Rules: func(string) []agent.Rule { return rules },
		Input: func(string) func(*vterm.Terminal) (agent.Input, bool) { return inputOf },
	})
	s.SetPlainLimit(0) // the scripts of tests take no pastes
	t.Cleanup(func() {
		if err := s.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sessionsWith returns sessions whose agents are read by other rules.
func sessionsWith(t testing.TB, rules []agent.Rule) *session.Sessions {
	s := session.New(session.Config{Rules: func(string) []agent.Rule { return rules }, Scrollback: 1000, Project: "/p"})
	t.Cleanup(func() {
		if err := s.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	return s
}

// heard is what a session told.
type heard struct {
	*session.Session
	mu     sync.Mutex
	states []thread.State
	exits  []thread.Exit
	ready  chan struct{} // OnReady was called
}

func (h *heard) now() thread.State { return h.State().State }

func (h *heard) told(s thread.State) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.states, s)
}

func (h *heard) shows(text string) bool {
	return strings.Contains(strings.Join(h.Screen(), "\n"), text)
}

func start(t testing.TB, all *session.Sessions, id thread.ID, script string) *heard {
	t.Helper()
	return resume(t, all, id, script, nil)
}

// resume starts an agent that resumes a conversation.
func resume(t testing.TB, all *session.Sessions, id thread.ID, script string, loaded func() bool) *heard {
	t.Helper()
	h := &heard{ready: make(chan struct{}, 100)}
	s, err := all.Start(context.Background(), thread.SessionSpec{
		Thread: id, Agent: "test", Cols: 80, Rows: 24,
		Launch: thread.Launch{
			Path: "/bin/sh", Args: []string{"-c", script}, Dir: t.TempDir(),
			Env:    []string{"PATH=" + os.Getenv("PATH"), "TERM=dumb", "TMUX=1"},
			Loaded: loaded,
		},
		OnState: func(r thread.StateReport) { h.mu.Lock(); h.states = append(h.states, r.State); h.mu.Unlock() },
		OnExit:  func(e thread.Exit) { h.mu.Lock(); h.exits = append(h.exits, e); h.mu.Unlock() },
		OnReady: func() { h.ready <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Session = s.(*session.Session)
	return h
}

func waitDone(t testing.TB, s *heard) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(deadline):
		t.Fatalf("session did not end; screen %q", s.Screen())
	}
}

func TestLife(t *testing.T) {
	all := sessions(t)
	h := start(t, all, "a", `echo "$TERM $COLORTERM $TERM_PROGRAM $ORCHESTRATOR_THREAD $ORCHESTRATOR_PROJECT_DIR ${TMUX-none}"; read x; exit 3`)
	await.Until(t, "output", func() bool { return h.shows("xterm-256color truecolor orchestrator a /p none") })
	if h.now() != thread.StateStarting {
		t.Errorf("state %s", h.now())
	}
	if _, err := all.Start(context.Background(), thread.SessionSpec{Thread: "a"}); !errors.Is(err, thread.ErrRunning) {
		t.Errorf("second start: %v", err)
	}
	if err := h.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	waitDone(t, h)
	want := []thread.Exit{{Code: 3, Reason: "exited", Screen: "xterm-256color truecolor orchestrator a /p none"}}
	if !slices.Equal(h.exits, want) {
		t.Errorf("exits %v", h.exits)
	}
	if want := []thread.State{thread.StateExited}; !slices.Equal(h.states, want) {
		t.Errorf("states %v", h.states)
	}
	if err := h.Send(context.Background(), "hi"); !errors.Is(err, thread.ErrNotRunning) {
		t.Errorf("send to an ended agent: %v", err)
	}
	if err := h.Stop(context.Background(), 0); err != nil {
		t.Errorf("stop of an ended agent: %v", err)
	}
	v, err := all.Attach("a", 60, 20, false)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	m := newMirror(v)
	if err := m.follow(context.Background(), func(string) bool { return false }); !errors.Is(err, io.EOF) {
		t.Errorf("ended session: %v", err)
	}
	if !strings.Contains(m.text(), "truecolor") {
		t.Errorf("last screen %q", m.text())
	}
	start(t, all, "a", "sleep 1000") // takes its place
}

func TestStop(t *testing.T) {
	all := sessions(t)
	h := start(t, all, "a", `trap '' TERM HUP; echo up; while :; do sleep 1000; done`)
	await.Until(t, "output", func() bool { return h.shows("up") })
	if err := h.Stop(context.Background(), 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	waitDone(t, h)
	if want := []thread.Exit{{Code: 137, Reason: "stopped"}}; !slices.Equal(h.exits, want) {
		t.Errorf("exits %v", h.exits)
	}
}

func TestStartFails(t *testing.T) {
	all := sessions(t)
	_, err := all.Start(context.Background(), thread.SessionSpec{Thread: "a", Launch: thread.Launch{Path: "/nonexistent"}})
	if !errors.Is(err, os.ErrNotExist) || all.Get("a") != nil {
		t.Errorf("start: %v, %v", err, all.Get("a"))
	}
	if _, err := all.Attach("a", 80, 24, false); !errors.Is(err, thread.ErrNotRunning) {
		t.Errorf("attach: %v", err)
	}
}

func TestState(t *testing.T) {
	all := sessions(t)
	h := start(t, all, "a", `
stty -echo
printf '> \r\n'; read x
printf '\033]0;busy\007'; read x
printf '\033]0;\007\033[2J\033[HAllow?\r\n'; read x
printf '\033[2J\033[H> \r\n'; read x
printf '\033]7501;state=working:app=t\007'; read x
printf '\033]7501;state=blocked:kind=permission:msg=bHM=\007'; read x
printf '\033]7501;state=idle\007'; read x`)
	next := func() {
		if err := h.Input([]byte("\r")); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []thread.State{
		thread.StateIdle, thread.StateWorking, thread.StateApproval, thread.StateIdle,
		thread.StateWorking, thread.StateApproval, thread.StateIdle,
	} {
		await.Until(t, string(want), func() bool { return h.now() == want })
		first := h.State().Evidence[0]
		if want == thread.StateApproval && first.Source == thread.SourceHook &&
			first.Detail != "OSC 7501 blocked permission: ls" {
			t.Errorf("evidence %+v", h.State().Evidence)
		}
		next()
	}
	await.Until(t, "the listener to hear of it", func() bool {
		return h.told(thread.StateApproval) && h.told(thread.StateWorking)
	})
}

func TestStateChangesByTimeAlone(t *testing.T) {
	h := start(t, sessions(t), "a", "sleep 1000")
	h.Report(thread.Evidence{Source: thread.SourceGateway, State: thread.StateWorking, At: time.Now()})
	h.Report(thread.Evidence{Source: thread.SourceHook, State: thread.StateIdle, At: time.Now()})
	await.Until(t, "idle without another word", func() bool { return h.told(thread.StateIdle) })
}

// TestCallbacksMayCallBack: what a listener does must not lock the session up.
// All that can be seen of a program without rules is whether it prints.
func TestProgramWithoutRules(t *testing.T) {
	enough := filepath.Join(t.TempDir(), "enough")
	h := start(t, sessionsWith(t, nil), "t", "while [ ! -e "+enough+" ]; do echo x; sleep 0.05; done; exec sleep 1000")
	await.Until(t, "working while it prints", func() bool { return h.now() == thread.StateWorking })
	if err := os.WriteFile(enough, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "unknown when it is quiet", func() bool {
		r := h.State()
		return r.State == thread.StateUnknown && strings.Contains(r.Why(), "prints nothing now")
	})
}

func TestCallbacksMayCallBack(t *testing.T) {
	all := sessions(t)
	var s *session.Session
	var mu sync.Mutex // as the Manager's: held around calls in both directions
	idle := make(chan struct{})
	mu.Lock()
	one, err := all.Start(context.Background(), thread.SessionSpec{
		Thread: "a", Cols: 80, Rows: 24, Launch: thread.Launch{Path: "/bin/sh", Args: []string{"-c", "sleep 1000"}},
		OnState: func(r thread.StateReport) {
			mu.Lock()
			defer mu.Unlock()
			s.State()
			if r.State == thread.StateWorking {
				s.Report(thread.Evidence{Source: thread.SourceGateway, State: thread.StateIdle, At: time.Now()})
			}
			if r.State == thread.StateIdle {
				close(idle)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s = one.(*session.Session)
	s.Report(thread.Evidence{Source: thread.SourceGateway, State: thread.StateWorking, At: time.Now()})
	mu.Unlock()
	select {
	case <-idle:
	case <-time.After(deadline):
		t.Fatal("nobody was told")
	}
}

// mirror is a client's emulator.
type mirror struct {
	v     *session.Viewer
	mu    sync.Mutex
	term  *vterm.Terminal
	bytes int
	full  int // whole screens it got
}

var sizeMark = regexp.MustCompile(`^\x1b\[8;(\d+);(\d+)t`)

func newMirror(v *session.Viewer) *mirror {
	return &mirror{v: v, term: vterm.New(80, 24, vterm.Options{})}
}

func (m *mirror) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.term.Text()
}

// follow takes bytes until the screen is as wanted.
func (m *mirror) follow(ctx context.Context, enough func(text string) bool) error {
	for !enough(m.text()) {
		b, err := m.v.Next(ctx)
		if err != nil {
			return err
		}
		m.mu.Lock()
		if mark := sizeMark.FindSubmatch(b); mark != nil {
			m.full++
			m.term.Resize(atoi(mark[2]), atoi(mark[1]))
		}
		m.bytes += len(b)
		_, err = m.term.Write(b)
		m.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

func atoi(b []byte) (n int) {
	for _, c := range b {
		n = 10*n + int(c-'0')
	}
	return n
}

func TestAttach(t *testing.T) {
	all := sessions(t)
	h := start(t, all, "a", `stty -echo; seq 1 100; while read x; do echo "got $x"; stty size; done`)
	await.Until(t, "output", func() bool { return h.shows("100") })
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	attach := func(cols, rows int) *mirror {
		v, err := all.Attach("a", cols, rows, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		return newMirror(v)
	}
	a := attach(80, 24)
	if err := a.follow(ctx, func(s string) bool { return strings.Contains(s, "\n100") }); err != nil {
		t.Fatal(err)
	}
	if a.term.History() < 70 {
		t.Errorf("%d lines of history came along", a.term.History())
	}
	if err := a.v.Input([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	b := attach(60, 20) // the terminal takes its size
	if err := b.v.Input([]byte("two\n")); err != nil {
		t.Fatal(err)
	}
	both := func(s string) bool { return strings.Contains(s, "got two\n20 60") }
	for _, m := range []*mirror{a, b} {
		if err := m.follow(ctx, both); err != nil {
			t.Fatal(err)
		}
		if c, r := m.term.Size(); c != 60 || r != 20 {
			t.Errorf("viewer's terminal is %d by %d", c, r)
		}
	}
	if err := a.v.Input([]byte("three\n")); err != nil { // and that of who types
		t.Fatal(err)
	}
	if err := a.v.Resize(70, 22, false); err != nil {
		t.Fatal(err)
	}
	if err := a.v.Input([]byte("four\n")); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*mirror{a, b} {
		if err := m.follow(ctx, func(s string) bool { return strings.Contains(s, "got four\n22 70") }); err != nil {
			t.Fatal(err)
		}
	}
	a.v.Close() // back to the other's size
	await.Until(t, "the size of who is left", func() bool {
		return h.Input([]byte("x\n")) == nil && h.shows("got x\n20 60")
	})
	if _, err := a.v.Next(ctx); !errors.Is(err, io.EOF) {
		t.Errorf("closed viewer: %v", err)
	}
	if err := h.Stop(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.follow(ctx, func(string) bool { return false }); !errors.Is(err, io.EOF) {
		t.Errorf("ended session: %v", err)
	}
}

// TestSlowViewer: one who does not read holds nobody up, and sees the right screen afterwards.
func TestSlowViewer(t *testing.T) {
	all := sessions(t)
	h := start(t, all, "a", `read x; seq 1 600000; echo the end; sleep 1000`)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	v, err := all.Attach("a", 80, 24, false)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	m := newMirror(v)
	if _, err := v.Next(ctx); err != nil { // the screen before
		t.Fatal(err)
	}
	if err := v.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the end", func() bool { return h.shows("the end") })
	if err := m.follow(ctx, func(s string) bool { return strings.Contains(s, "the end") }); err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(h.Screen(), "\n"); m.text() != want {
		t.Errorf("viewer sees %q, session %q", m.text(), want)
	}
	if m.full == 0 {
		t.Error("the viewer was not given the whole screen")
	}
	// The history comes when the output pauses.
	if err := m.follow(ctx, func(string) bool { return m.term.History() >= 900 }); err != nil {
		t.Fatal(err)
	}
}

// TestNeighbourOfFloods: a watched session answers while others print as fast as they can.
func TestNeighbourOfFloods(t *testing.T) {
	all := sessions(t)
	var floods []*heard
	for _, id := range []thread.ID{"f1", "f2", "f3", "f4"} {
		floods = append(floods, start(t, all, id, "yes 'a line that is printed for ever and ever'"))
	}
	h := start(t, all, "a", `stty -echo; while read x; do echo "got $x"; done`)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	v, err := all.Attach("a", 80, 24, false)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	m := newMirror(v)
	for range 20 {
		before := strings.Count(m.text(), "got")
		if err := h.Input([]byte("\r")); err != nil {
			t.Fatal(err)
		}
		if err := m.follow(ctx, func(s string) bool { return strings.Count(s, "got") > min(before, 22) }); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range floods {
		await.Until(t, "the flood to flow", func() bool { return f.shows("a line that is printed") })
	}
}

func TestQueryStorm(t *testing.T) {
	h := start(t, sessions(t), "a", `stty raw -echo
		i=0; while [ $i -lt 2000 ]; do printf '\033[c\033[6n\033]10;?\007'; i=$((i+1)); done; printf survived; sleep 1000`)
	await.Until(t, "the end", func() bool { return h.shows("survived") })
}
