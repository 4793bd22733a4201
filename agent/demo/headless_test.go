package demo_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/demo"
	"orchestrator/thread"
)

// headless is the demo agent without a terminal.
type headless struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	talk  thread.Dialogue
	id    string
	lines chan []byte
	all   []thread.RunEvent
}

func (s *stage) headless(t *testing.T, spec thread.LaunchSpec, prompt string) *headless {
	t.Helper()
	spec.Dir, spec.Env, spec.Once.On = s.dir, s.env, true
	l, err := s.agent.Headless(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if prompt != "" && strings.Contains(strings.Join(append(l.Launch.Args, l.Launch.Env...), "\n"), prompt) {
		t.Error("the prompt is in the arguments or the environment")
	}
	h := &headless{t: t, talk: l.Dialogue, id: l.Launch.Session, lines: make(chan []byte)}
	h.cmd = exec.Command(l.Launch.Path, l.Launch.Args...)
	h.cmd.Dir, h.cmd.Env = l.Launch.Dir, l.Launch.Env
	out, err := h.cmd.StdoutPipe()
	if err == nil {
		h.in, err = h.cmd.StdinPipe()
	}
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(h.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			h.lines <- append([]byte(nil), lines.Bytes()...)
		}
	}()
	h.say(h.talk.Begin(prompt))
	return h
}

func (h *headless) say(s thread.Said) {
	h.t.Helper()
	h.all = append(h.all, s.Events...)
	if len(s.Write) > 0 {
		if _, err := h.in.Write(s.Write); err != nil && !errors.Is(err, syscall.EPIPE) {
			h.t.Error(err)
		}
	}
	if s.Close {
		if err := h.in.Close(); err != nil {
			h.t.Error(err)
		}
	}
}

// until reads until an event of a kind has come.
func (h *headless) until(kind thread.RunEventKind) {
	h.t.Helper()
	for late := time.After(deadline); ; {
		select {
		case line, ok := <-h.lines:
			if !ok {
				h.t.Fatalf("no %s in %+v", kind, h.all)
			}
			at := len(h.all)
			h.say(h.talk.Read(line))
			for _, e := range h.all[at:] {
				if e.Kind == kind {
					return
				}
			}
		case <-late:
			h.t.Fatalf("no %s in %s: %+v", kind, deadline, h.all)
		}
	}
}

// end reads everything, and returns how it ended.
func (h *headless) end() thread.RunEvent {
	h.t.Helper()
	for line := range h.lines {
		h.say(h.talk.Read(line))
	}
	err := h.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Error(err)
	}
	h.say(h.talk.End(h.cmd.ProcessState.ExitCode()))
	last := h.all[len(h.all)-1]
	for _, e := range h.all[:len(h.all)-1] {
		if e.Kind == thread.RunEnd || e.Kind == thread.RunLine {
			h.t.Errorf("%+v before the end", e)
		}
	}
	if last.Kind != thread.RunEnd {
		h.t.Errorf("the last is %+v", last)
	}
	return last
}

// said joins the texts of a kind.
func (h *headless) said(kind thread.RunEventKind) string {
	text := ""
	for _, e := range h.all {
		if e.Kind == kind {
			text += e.Tool + e.Text
		}
	}
	return text
}

func (h *headless) completes() *headless {
	h.t.Helper()
	if e := h.end(); e.Outcome != thread.RunCompleted || h.cmd.ProcessState.ExitCode() != 0 {
		h.t.Errorf("ended with %+v: %+v", e, h.all)
	}
	return h
}

func TestHeadless(t *testing.T) {
	s := newStage(t)
	auto := thread.Flags{PermissionMode: "auto"}
	h := s.headless(t, thread.LaunchSpec{Flags: auto}, "write notes.txt: buy\tmilk, then run echo $((6*7))").completes()
	if b, err := os.ReadFile(filepath.Join(s.dir, "notes.txt")); err != nil || string(b) != "buy\tmilk\n" {
		t.Errorf("%q, %v", b, err)
	}
	if got := h.said(thread.RunTool) + h.said(thread.RunResult); !strings.Contains(got, "write_filenotes.txt") ||
		!strings.Contains(got, "run_commandecho $((6*7))") || !strings.Contains(got, "42\n") {
		t.Errorf("tools %q", got)
	}
	if h.said(thread.RunText) == "" || h.all[0].Kind != thread.RunSession || h.all[0].Session != h.id {
		t.Errorf("%+v", h.all)
	}
	var told thread.Usage
	for _, e := range h.all {
		if e.Kind == thread.RunUsage {
			told.Input, told.Output = told.Input+e.Usage.Context()-e.Usage.Output, told.Output+e.Usage.Output
		}
	}
	spec := thread.TranscriptSpec{Session: h.id, Dir: s.dir, Env: s.env}
	chunks, err := s.agent.ReadTranscript(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	used, err := s.agent.ReadUsage(chunks)
	if err != nil || len(used) != 3 {
		t.Fatalf("%+v, %v", used, err)
	}
	for _, u := range used {
		told.Input, told.Output = told.Input-(u.Usage.Context()-u.Usage.Output), told.Output-u.Usage.Output
	}
	if told != (thread.Usage{}) {
		t.Errorf("the usage differs from the session's by %+v", told)
	}
	// In both forms it goes on with the whole conversation.
	h = s.headless(t, thread.LaunchSpec{Session: h.id, Resume: true}, "What did I ask you?").completes()
	if !strings.Contains(h.said(thread.RunText), "You asked me 1 thing before") {
		t.Errorf("%q", h.said(thread.RunText))
	}
	r := s.start(thread.LaunchSpec{Session: h.id, Resume: true})
	r.state(thread.StateIdle)
	r.send("What did I ask you?")
	r.shows("You asked me 2 things before")
	r.state(thread.StateDone)
	kill(t, r)
	h = s.headless(t, thread.LaunchSpec{Session: h.id, Resume: true}, "What did I ask you?").completes()
	if !strings.Contains(h.said(thread.RunText), "You asked me 3 things before") {
		t.Errorf("%q", h.said(thread.RunText))
	}
}

// Nobody is asked: what would be is refused, and the turn goes on.
func TestHeadlessRefuses(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct {
		spec                 thread.LaunchSpec
		prompt, refused, say string
	}{
		{thread.LaunchSpec{}, "run touch forbidden", "Allow this command? touch forbidden", "nobody can be asked"},
		{thread.LaunchSpec{}, "ask: Which? [red | green]", "Which?", "nobody can be asked"},
		{thread.LaunchSpec{Once: thread.Once{ReadOnly: true}, Flags: thread.Flags{PermissionMode: "auto"}},
			"run touch forbidden", "", `there is no tool "run_command"`},
		{thread.LaunchSpec{Once: thread.Once{ReadOnly: true}, Base: []string{"todos"}}, "write forbidden: x", "", `there is no tool "write_file"`},
	} {
		h := s.headless(t, c.spec, c.prompt).completes()
		if h.said(thread.RunRefused) != c.refused || !strings.Contains(h.said(thread.RunText), c.say) {
			t.Errorf("%q: %+v", c.prompt, h.all)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "forbidden")); err == nil {
		t.Error("the command ran")
	}
}

func TestHeadlessFails(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct {
		spec   thread.LaunchSpec
		prompt string
		want   thread.RunEvent
	}{
		{thread.LaunchSpec{}, "say no #401", thread.RunEvent{Status: 401, State: thread.StateUnauthorised, Reason: "401"}},
		{thread.LaunchSpec{}, "say no #429", thread.RunEvent{Status: 429, State: thread.StateLimited, Reason: "429"}},
		{thread.LaunchSpec{}, "say no #cut", thread.RunEvent{Reason: "the answer was cut off"}},
		{thread.LaunchSpec{Session: "none", Resume: true}, "say", thread.RunEvent{Reason: "there is no session none"}},
	} {
		h := s.headless(t, c.spec, c.prompt)
		got := h.end()
		if got.Outcome != thread.RunFailed || got.State != c.want.State || got.Status != c.want.Status ||
			!strings.Contains(got.Reason, c.want.Reason) || h.cmd.ProcessState.ExitCode() == 0 {
			t.Errorf("%q: %+v", c.prompt, h.all)
		}
	}
	// It is not tried again by itself, and fails as often as is asked for.
	h := s.headless(t, thread.LaunchSpec{}, "say once #529x1")
	if e := h.end(); e.Status != 529 || h.said(thread.RunNotice) != "" {
		t.Errorf("%+v", h.all)
	}
	h = s.headless(t, thread.LaunchSpec{Session: h.id, Resume: true}, "say once #529x1").completes()
	if h.said(thread.RunText) != "once" {
		t.Errorf("%+v", h.all)
	}
	h = s.headless(t, thread.LaunchSpec{}, "list files #times:3 #401 #after:2")
	if e := h.end(); e.Status != 401 || strings.Count(h.said(thread.RunTool), "list_files") != 2 {
		t.Errorf("%+v", h.all)
	}
	h = s.headless(t, thread.LaunchSpec{}, "say hi, then crash")
	if e := h.end(); e.Outcome != thread.RunFailed || h.cmd.ProcessState.ExitCode() == 0 || e.Status != 0 {
		t.Errorf("%+v", h.all)
	}
	h = s.headless(t, thread.LaunchSpec{}, "hang")
	h.until(thread.RunTool)
	h.say(h.talk.Interrupt())
	h.signal(syscall.SIGTERM)
	select {
	case line, ok := <-h.lines:
		t.Errorf("%s, %v", line, ok)
	case <-time.After(200 * time.Millisecond):
	}
	h.signal(syscall.SIGKILL)
	if e := h.end(); e.Outcome != thread.RunCancelled {
		t.Errorf("%+v", h.all)
	}
}

func TestHeadlessInterrupted(t *testing.T) {
	s := newStage(t)
	spec := thread.LaunchSpec{Flags: thread.Flags{PermissionMode: "auto"}}
	for _, c := range []struct {
		prompt string
		by     func(*headless)
		want   thread.RunOutcome
	}{
		{"run echo begun; sleep 600", func(h *headless) { h.until(thread.RunTool); h.say(h.talk.Interrupt()) }, thread.RunCancelled},
		{"say something #slow:600s", func(h *headless) { h.until(thread.RunSession); h.signal(syscall.SIGTERM) }, thread.RunCancelled},
		{"run sleep 5", func(h *headless) { h.until(thread.RunTool); h.signal(syscall.SIGKILL) }, thread.RunFailed},
	} {
		h := s.headless(t, spec, c.prompt)
		begun := time.Now()
		c.by(h)
		if e := h.end(); e.Outcome != c.want || e.Reason == "" {
			t.Errorf("%q: %+v", c.prompt, h.all)
		}
		if took := time.Since(begun); took > deadline/2 {
			t.Errorf("%q ended after %s", c.prompt, took)
		}
	}
}

func (h *headless) signal(s syscall.Signal) {
	h.t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		h.t.Error(err)
	}
}

// FuzzDialogue: whatever is printed, there is one end, and it is the last.
func FuzzDialogue(f *testing.F) {
	f.Add([]byte(`{"type":"session","session":"s"}`), []byte(`{"type":"usage"}`), 0)
	f.Add([]byte(`{"type":"end","outcome":"completed"}`), []byte(`{"type":"text","text":"x"}`), 1)
	f.Add([]byte(`{"type":"asks","call":"c","question":{"id":"q","choices":[{"text":"Yes"}]}}`), []byte(`{"type":"withdrawn","question":{"id":"q"}}`), 0)
	f.Add([]byte(`null`), []byte("\x00{"), 143)
	f.Fuzz(func(t *testing.T, one, two []byte, code int) {
		a := demo.New(demo.Config{Program: []string{"/x"}, Home: "/x"})
		l, err := a.Headless(context.Background(), thread.LaunchSpec{Dir: "/"})
		if err != nil {
			t.Fatal(err)
		}
		d := l.Dialogue
		all := d.Begin("x").Events
		answered := func() (said thread.Said) {
			said, err := d.(thread.Asker).Answer("q", 0, "")
			if err != nil && !errors.Is(err, thread.ErrRefused) && !errors.Is(err, thread.ErrInvalid) {
				t.Error(err)
			}
			return said
		}
		for _, said := range []thread.Said{d.Read(one), answered(), d.Interrupt(), d.Read(two), answered(), d.End(code), d.End(code)} {
			all = append(all, said.Events...)
		}
		for i, e := range all {
			if last := i == len(all)-1; last != (e.Kind == thread.RunEnd) || e.Kind == "" {
				t.Fatalf("%+v", all)
			}
		}
	})
}
