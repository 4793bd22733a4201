package manager_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// places is a witness without files: it makes folders.
type places struct {
	dir     string
	mu      sync.Mutex
	in      map[exec.ID]string // the folder that each has asked for
	traces  exec.Traces
	refuse  error // of Join
	unknown error // of Leave
	left    int
}

func (p *places) Join(_ context.Context, x exec.Execution, dir string) (exec.Place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		return exec.Place{}, p.refuse
	}
	if p.in[x.ID] != "" {
		return exec.Place{}, fmt.Errorf("%s joins twice", x.Name)
	}
	p.in[x.ID] = dir
	at := filepath.Join(p.dir, "readonly-1")
	return exec.Place{Dir: at, Root: at}, os.MkdirAll(at, 0o700)
}

func (p *places) Leave(_ context.Context, id exec.ID) (exec.Traces, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in[id] == "" {
		return exec.Traces{}, thread.ErrNotFound
	}
	delete(p.in, id)
	p.left++
	return p.traces, p.unknown
}

func (p *places) none(t *testing.T, left int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.in) > 0 || p.left != left {
		t.Errorf("%d are in a place, %d have left one, want %d", len(p.in), p.left, left)
	}
}

// inWatched runs a test in a world whose runs are witnessed.
func inWatched(t *testing.T, test func(*world, *places)) {
	t.Helper()
	p := &places{dir: t.TempDir(), in: map[exec.ID]string{}}
	inWorld(t, func(w *world) { test(w, p) }, withShaky, func(w *world) { w.cfg.Runs.Witness = p })
}

func reading(r *thread.NewRequest) { r.Once.ReadOnly, r.Once.From = true, "/etc" }

// TestReadOnlyRun: its process works in a place of the witness, its thread's own folder stays what it was, and it has
// completed if nothing was changed.
func TestReadOnlyRun(t *testing.T) {
	inWatched(t, func(w *world, p *places) {
		var dir string
		var env []string
		w.sess.started = func(spec thread.SessionSpec) { dir, env = spec.Launch.Dir, spec.Launch.Env }
		s := w.once("look", reading)
		own := w.cfg.Project
		if dir != filepath.Join(p.dir, "readonly-1") || !slices.Contains(env, "ORIGIN="+own) {
			t.Errorf("it works in %s: %q", dir, env)
		}
		w.finish(s.ID, "look")
		w.runIs(s.ID, exec.Completed)
		if got := w.status(s.ID); got.Dir != own || got.Once.From != "" {
			t.Errorf("its thread is in %s, from %q", got.Dir, got.Once.From)
		}
		p.none(t, 1)
		w.once("write")
		if dir != own {
			t.Errorf("one that writes works in %s", dir)
		}
	})
}

// TestReadOnlyRunFails: what was changed fails it, or that nobody knows; one that was cancelled stays so.
func TestReadOnlyRunFails(t *testing.T) {
	for name, tc := range map[string]struct {
		do    func(*places)
		say   thread.RunOutcome
		state exec.State
		why   string
	}{
		"changed":        {func(p *places) { p.traces.Changed = []string{"a.txt"} }, thread.RunCompleted, exec.Failed, "may only read: a.txt"},
		"failed already": {func(p *places) { p.traces.Changed = []string{"a.txt"} }, thread.RunFailed, exec.Failed, "may only read: a.txt"},
		"nobody knows":   {func(p *places) { p.unknown = errors.New("no disk") }, thread.RunCompleted, exec.Failed, "is not known: no disk"},
		"unchanged":      {func(*places) {}, thread.RunCompleted, exec.Completed, ""},
		"no repository":  {func(p *places) { p.refuse = thread.ErrNoRepository }, thread.RunCompleted, exec.Completed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWatched(t, func(w *world, p *places) {
				tc.do(p)
				s := w.once("look", reading)
				w.turn(s.ID, "look")
				proc := w.sess.of(s.ID)
				proc.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: tc.say, Reason: "own"})
				proc.exit(0)
				x := w.runIs(s.ID, tc.state)
				if !strings.Contains(x.Reason, tc.why) || tc.why == "" && x.Reason != "" && tc.state == exec.Completed && x.Reason != "own" {
					t.Errorf("reason %q, want %q", x.Reason, tc.why)
				}
				events, err := w.cfg.Runs.Store.Events(context.Background(), x.ID, 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				text := ""
				for _, e := range events {
					text += e.Text + "\n"
				}
				if got := strings.Contains(text, "changed: a.txt"); got != (len(p.traces.Changed) > 0) {
					t.Errorf("its record: %s", text)
				}
				if got := strings.Contains(text, "nobody watches"); got != (p.refuse != nil) {
					t.Errorf("its record: %s", text)
				}
			})
		})
	}
}

// TestReadOnlyNotStarted: a run that cannot be started leaves its place, and its thread its folder.
func TestReadOnlyNotStarted(t *testing.T) {
	inWatched(t, func(w *world, p *places) {
		w.sess.refuse = errors.New("no program")
		s := w.once("look", reading)
		x := w.execution(s.ID)
		if x.State != exec.Failed {
			t.Errorf("%s: %s", x.State, x.Reason)
		}
		p.none(t, 1)
		if got := w.status(s.ID); got.Dir != w.cfg.Project {
			t.Errorf("its thread is in %s", got.Dir)
		}
	})
}

// TestReadOnlyCrash: a server that dies while a run is in a place leaves its thread there; the next start takes it back.
func TestReadOnlyCrash(t *testing.T) {
	inWatched(t, func(w *world, p *places) {
		s := w.once("look", reading)
		if got := w.status(s.ID); got.Once.From != w.cfg.Project || got.Dir == w.cfg.Project {
			t.Errorf("its thread is in %s, from %q", got.Dir, got.Once.From)
		}
		w.crash()
		w.runIs(s.ID, exec.Lost)
		if got := w.status(s.ID); got.Once.From != "" || got.Dir != w.cfg.Project {
			t.Errorf("its thread is in %s, from %q", got.Dir, got.Once.From)
		}
	})
}

// TestReadOnlyUncompared: one whose server dies between its end and the comparison has not completed.
func TestReadOnlyUncompared(t *testing.T) {
	for name, tc := range map[string]struct {
		policy exec.Policy
		state  exec.State
		why    string
	}{
		"ask": {exec.PolicyAsk, exec.Lost, "before its files were compared"}, "fail": {exec.PolicyFail, exec.Failed, "before its files were compared"},
		"retry": {exec.PolicyRetry, exec.Running, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWatched(t, func(w *world, p *places) {
				s := w.once("look", reading, func(r *thread.NewRequest) { r.Once.Lost = string(tc.policy) })
				w.turn(s.ID, "look")
				w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
				synctest.Wait()
				w.cfg.Runs.Store.(*shaky).set(func(string) error { return thread.ErrUnreachable }, nil) // its end is not stored
				w.crash()
				p.in = map[exec.ID]string{}
				w.cfg.Runs.Store.(*shaky).set(nil, nil)
				time.Sleep(10 * time.Second)
				if x := w.runIs(s.ID, tc.state); !strings.Contains(x.Reason, tc.why) {
					t.Errorf("reason %q", x.Reason)
				}
			})
		})
	}
}

// TestReadOnlyChangedAtTheEnd: what was found changed as the server stopped is not forgotten.
func TestReadOnlyChangedAtTheEnd(t *testing.T) {
	inWatched(t, func(w *world, p *places) {
		s := w.once("look", reading)
		p.traces.Changed = []string{"a.txt"}
		w.restart()
		if x := w.runIs(s.ID, exec.Failed); !strings.Contains(x.Reason, "a.txt") {
			t.Errorf("reason %q", x.Reason)
		}
	})
}

// TestReadOnlyTakenOver: in a terminal the thread works in its own folder, and its next run in a place again.
func TestReadOnlyTakenOver(t *testing.T) {
	inWatched(t, func(w *world, p *places) {
		var dir string
		w.sess.started = func(spec thread.SessionSpec) { dir = spec.Launch.Dir }
		s := w.once("look", reading)
		w.finish(s.ID, "look")
		if _, err := w.m.Agents.Start(context.Background(), string(s.ID), 80, 24); err != nil {
			t.Fatal(err)
		}
		if dir != w.cfg.Project {
			t.Errorf("in a terminal it works in %s", dir)
		}
		p.none(t, 1)
	})
}
