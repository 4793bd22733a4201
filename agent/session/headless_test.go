package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/session"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// talk is a Dialogue of words at the beginning of lines. The process reads the prompt as a line.
type talk struct {
	mute   bool // only a signal interrupts
	ended  bool
	cancel bool
}

func (d *talk) Begin(prompt string) thread.Said { return thread.Said{Write: []byte(prompt + "\n")} }

func (d *talk) Read(line []byte) thread.Said {
	word, rest, _ := strings.Cut(string(line), " ")
	event := func(e thread.RunEvent) thread.Said { return thread.Said{Events: []thread.RunEvent{e}} }
	switch word {
	case "text":
		return event(thread.RunEvent{Kind: thread.RunText, Text: rest + "\n"})
	case "asks":
		return thread.Said{Write: []byte("no\n"), Events: []thread.RunEvent{{Kind: thread.RunRefused, Tool: rest}}}
	case "end":
		d.ended = true
		outcome := thread.RunOutcome(rest)
		if d.cancel {
			outcome = thread.RunCancelled
		}
		return event(thread.RunEvent{Kind: thread.RunEnd, Outcome: outcome})
	case "limited":
		d.ended = true
		return event(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "no more today", State: thread.StateLimited})
	}
	return event(thread.RunEvent{Kind: thread.RunLine, Text: string(line)})
}

func (d *talk) Interrupt() thread.Said {
	d.cancel = true
	if d.mute {
		return thread.Said{}
	}
	return thread.Said{Write: []byte("interrupt\n")}
}

func (d *talk) End(code int) thread.Said {
	if d.ended {
		return thread.Said{Events: []thread.RunEvent{{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "twice"}}}
	}
	return thread.Said{}
}

// headless is a session without a terminal, and what it told.
type headless struct {
	*session.Session
	mu     sync.Mutex
	events []thread.RunEvent
	exits  []thread.Exit
	late   int // events after the exit
	states []thread.State
	raw    bytes.Buffer
}

func (r *headless) told() []thread.RunEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// kinds are the kinds of what it told, with texts.
func (r *headless) words() string {
	var b strings.Builder
	for _, e := range r.told() {
		fmt.Fprintf(&b, "%s(%s%s%s)", e.Kind, strings.TrimSpace(e.Text+e.Tool), e.Outcome, e.Reason)
	}
	return b.String()
}

func (r *headless) shows(text string) bool {
	return strings.Contains(strings.Join(r.Screen(), "\n"), text)
}

func runIn(t testing.TB, all *session.Sessions, d thread.Dialogue, script string, args ...string) *headless {
	t.Helper()
	return runAs(t, all, "r", d, nil, script, args...)
}

// runRaw is runIn with another writer for the output.
func runRaw(t testing.TB, all *session.Sessions, d thread.Dialogue, raw io.Writer, script string) *headless {
	t.Helper()
	return runAs(t, all, "r", d, raw, script)
}

// runAs is runIn in a thread. raw is the writer for the output, the headless's own if it is nil.
func runAs(t testing.TB, all *session.Sessions, id thread.ID, d thread.Dialogue, raw io.Writer, script string, args ...string) *headless {
	t.Helper()
	r := &headless{}
	if raw == nil {
		raw = &r.raw
	}
	s, err := all.Start(context.Background(), thread.SessionSpec{
		Thread: id, Agent: "test", Cols: 80, Rows: 24, Dialogue: d, Raw: raw,
		Launch: thread.Launch{Path: "/bin/sh", Args: append([]string{"-c", script, "sh"}, args...), Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}},
		OnRun: func(e thread.RunEvent) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
			r.late += len(r.exits)
		},
		OnState: func(s thread.StateReport) { r.mu.Lock(); r.states = append(r.states, s.State); r.mu.Unlock() },
		OnExit:  func(e thread.Exit) { r.mu.Lock(); r.exits = append(r.exits, e); r.mu.Unlock() },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Session = s.(*session.Session)
	return r
}

// waits waits for the end, and holds that there is one RunEnd, the last event, before the exit. It returns that.
func (r *headless) ends(t testing.TB) thread.RunEvent {
	t.Helper()
	select {
	case <-r.Done():
	case <-time.After(deadline):
		t.Fatalf("run did not end; screen %q", r.Screen())
	}
	events := r.told()
	ends := 0
	for _, e := range events {
		if e.Kind == thread.RunEnd {
			ends++
		}
		if e.At.IsZero() {
			t.Errorf("no time in %+v", e)
		}
	}
	if ends != 1 || r.late != 0 || len(r.exits) != 1 || events[len(events)-1].Kind != thread.RunEnd {
		t.Fatalf("%d ends, %d events after the exit, exits %v; events %s", ends, r.late, r.exits, r.words())
	}
	return events[len(events)-1]
}

// TestRun asks a prompt, and sees what is reported, written, shown and kept.
func TestRun(t *testing.T) {
	r := runIn(t, sessions(t), &talk{}, `[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || (: </dev/tty) 2>/dev/null && echo a terminal
		read p; echo "text it said $p"; sleep 0.1; echo oops >&2; sleep 0.1; echo "asks Bash"; read a; echo "text then $a $TERM"
		echo "end completed"; while read x; do echo "text $x"; done; echo "text late"; exit 3`)
	await.Until(t, "readiness", func() bool { return r.State().State == thread.StateIdle && r.Ready() == nil })
	await.Until(t, "word of that", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return len(r.states) > 0 })
	if err := r.Send(context.Background(), "hello\x1b[2J"); err != nil {
		t.Fatal(err)
	}
	var not *thread.NotReadyError
	if err := r.Send(context.Background(), "again"); !errors.As(err, &not) || !errors.Is(err, thread.ErrBusy) {
		t.Errorf("second prompt: %v", err)
	}
	r.ends(t)
	want := "text(it said hello\x1b[2J)line(oops)refused(Bash)text(then no dumb)end(completed)"
	if got := r.words(); got != want {
		t.Errorf("told %q\nwant %q", got, want)
	}
	if e := r.told()[1]; !e.Stderr {
		t.Errorf("a line of the standard error is not marked: %+v", e)
	}
	if want := []thread.State{thread.StateIdle, thread.StateWorking, thread.StateDone, thread.StateExited}; !slices.Equal(r.states, want) {
		t.Errorf("states %v", r.states)
	}
	if e := r.exits[0]; e.Code != 3 || e.Reason != "exited" || e.Limit || e.Printed != int64(r.raw.Len()) {
		t.Errorf("exit %+v, %d bytes kept", e, r.raw.Len())
	}
	for _, text := range []string{"hello\u241b[2J", "it said", "\u2502 oops", "\u00d7 refused Bash", "\u2713 completed"} {
		if !r.shows(text) {
			t.Errorf("%q is not shown:\n%s", text, strings.Join(r.Screen(), "\n"))
		}
	}
	if err := r.Send(context.Background(), "too late"); !errors.Is(err, thread.ErrNotRunning) {
		t.Errorf("prompt after the end: %v", err)
	}
}

// TestRunIsNoTerminal refuses what a person does in one, and takes viewers of any size.
func TestRunIsNoTerminal(t *testing.T) {
	all := sessions(t)
	r := runIn(t, all, &talk{}, `read p; echo "text shown"; read x`)
	v, err := all.Attach("r", 100, 30, false)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := r.Send(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	for !strings.Contains(seen.String(), "shown") {
		b, err := v.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(b)
	}
	if !strings.Contains(seen.String(), "\x1b[8;30;100t") {
		t.Errorf("the viewer got another size: %q", seen.String())
	}
	for what, err := range map[string]error{
		"input": r.Input([]byte("x")), "a viewer's input": v.Input([]byte("x")),
	} {
		if !errors.Is(err, thread.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if decided, err := r.Decide(context.Background(), "q", func() bool { return true }); decided || err != nil {
		t.Errorf("decided %v, %v", decided, err)
	}
	if err := r.Resize(70, 20); err != nil {
		t.Error(err)
	}
	if err := r.Stop(context.Background(), time.Second); err != nil {
		t.Fatal(err)
	}
	if e := r.ends(t); e.Outcome != thread.RunCancelled || e.Reason != "stopped" {
		t.Errorf("end %+v", e)
	}
	if s := start(t, all, "w", "sleep 100"); !errors.Is(s.Cancel(context.Background()), thread.ErrUnsupported) {
		t.Error("a turn in a terminal was cancelled")
	}
}

// TestRunOutcomes ends runs in every way.
func TestRunOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		outcome thread.RunOutcome
		reason  string
		state   thread.State // before the exit
	}{
		"completed":              {`read p; echo "end completed"`, thread.RunCompleted, "", thread.StateDone},
		"half a line":            {`read p; printf "end completed"`, thread.RunCompleted, "", ""},
		"lines of other systems": {`read p; printf "end completed\r\n"`, thread.RunCompleted, "", thread.StateDone},
		"fails with a code":      {`read p; echo "end completed"; exit 7`, thread.RunCompleted, "", thread.StateDone},
		"no result":              {`read p; exit 0`, thread.RunFailed, "it ended with code 0 without a result", ""},
		"its words":              {`read p; echo "no such model" >&2; exit 2`, thread.RunFailed, "it ended with code 2 without a result: no such model", ""},
		"killed":                 {`read p; kill -9 $$`, thread.RunFailed, "it was killed by signal 9", ""},
		"before the prompt":      {`exec <&-; exit 1`, thread.RunFailed, "it ended with code 1 without a result", ""},
		"a limit":                {`read p; echo limited`, thread.RunFailed, "no more today", thread.StateLimited},
		"never ends":             {`trap "" TERM; read p; echo "end completed"; while :; do sleep 1; done`, thread.RunCompleted, "", thread.StateDone},
		"ends twice":             {`read p; echo "end completed"; echo "end failed"; echo limited`, thread.RunCompleted, "", thread.StateDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runIn(t, sessions(t), &talk{}, c.script)
			if err := r.Send(context.Background(), "go"); err != nil && name != "before the prompt" {
				t.Fatal(err)
			}
			e := r.ends(t)
			if e.Outcome != c.outcome || e.Reason != c.reason {
				t.Errorf("end %+v", e)
			}
			if c.state != "" && !slices.Contains(r.states, c.state) {
				t.Errorf("states %v", r.states)
			}
		})
	}
}

// TestRunCancelled cancels runs that take it well or badly, and leaves nothing of them.
func TestRunCancelled(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		mute   bool
	}{
		"takes the word":   {`read p; echo "text a"; echo $$ >"$1"; echo "text ready"; read x; echo "text $x"; echo "end failed"; exit 0`, false},
		"takes the signal": {`trap 'echo "end completed"; exit 0' INT; echo $$ >"$1"; read p; echo "text ready"; while :; do sleep 0.05; done`, true},
		"takes nothing":    {`trap "" INT TERM HUP; echo $$ >"$1"; read p; echo "text ready"; while :; do sleep 1; done`, false},
		"says it and stays": {`trap "" INT TERM HUP; echo $$ >"$1"; read p; echo "text ready"; read x; echo "end failed"; while :; do sleep 1; done`,
			false},
		"leaves children": {`read p; (trap "" INT TERM HUP; sh -c 'echo $PPID' >"$1"; while :; do sleep 1; done) & setsid sh -c '
			trap "" INT TERM HUP; echo $$ >>"$1"; echo "text ready"; while :; do sleep 1; done' sh "$1" & wait`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			r := runIn(t, sessions(t), &talk{mute: c.mute}, c.script, pids)
			if err := r.Send(context.Background(), "go"); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "the work", func() bool { return strings.Contains(r.words(), "ready") })
			began := time.Now()
			var twice sync.WaitGroup
			for range 2 {
				twice.Go(func() {
					if err := r.Cancel(context.Background()); err != nil {
						t.Error(err)
					}
				})
			}
			twice.Wait()
			t.Logf("cancelled in %v", time.Since(began))
			if e := r.ends(t); e.Outcome != thread.RunCancelled && name != "takes the signal" {
				t.Errorf("end %+v", e)
			}
			b, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			for _, pid := range strings.Fields(string(b)) {
				if _, err := os.Stat("/proc/" + pid); runtime.GOOS == "linux" && !errors.Is(err, os.ErrNotExist) {
					t.Errorf("process %s is left", pid)
				}
			}
			if err := r.Cancel(context.Background()); err != nil {
				t.Errorf("cancelled once more: %v", err)
			}
		})
	}
}

// TestRunThatReadsNothing gives a long prompt to a program that does not read it, and to one that reads it late.
func TestRunThatReadsNothing(t *testing.T) {
	prompt := strings.Repeat("x", 1<<20)
	r := runIn(t, sessions(t), &talk{}, `sleep 0.2; head -n 1 | wc -c | sed "s/^ */text /"; echo "end completed"`)
	if err := r.Send(context.Background(), prompt); err != nil {
		t.Fatal(err)
	}
	if e := r.ends(t); e.Outcome != thread.RunCompleted || !strings.HasPrefix(r.words(), fmt.Sprintf("text(%d)", len(prompt)+1)) {
		t.Errorf("told %s", r.words())
	}
	r = runIn(t, sessions(t), &talk{}, `sleep 1000`)
	if err := r.Send(context.Background(), strings.Repeat("x", thread.MaxPrompt)); err != nil {
		t.Fatal(err)
	}
	if err := r.Cancel(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.ends(t)
	if err := r.Send(context.Background(), strings.Repeat("x", thread.MaxPrompt+1)); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("a prompt that is too long: %v", err)
	}
}
