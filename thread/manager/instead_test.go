package manager_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// passed returns the execution that took the place of another.
func (w *world) passed(x exec.Execution) exec.Execution {
	w.t.Helper()
	synctest.Wait()
	y, err := w.m.Executions.Execution(context.Background(), string(x.Instead))
	if err != nil || x.Instead == "" {
		w.t.Fatalf("the fallback of %+v: %v", x, err)
	}
	return y
}

func onCodex(r *thread.NewRequest) { r.Once.OnFail, r.Once.Fallback = "fallback", "codex" }

// TestFallbackAgent: a run whose agent is limited is done by another agent, once, in the same folder, with what is left of
// its budget and its prompt as it was.
func TestFallbackAgent(t *testing.T) {
	inWorld(t, func(w *world) {
		budget := 1.0
		s := w.once("do it", onCodex, func(r *thread.NewRequest) { r.Once.Budget.USD, r.Once.Group = &budget, "night" })
		w.respond(s.ID, "do it", "call", false)
		w.refused(s.ID, thread.Exchange{Status: 429, Err: "limit", Until: time.Now().Add(5 * time.Hour)})
		x := w.runIs(s.ID, exec.Failed)
		y := w.passed(x)
		if y.For != x.ID || y.Agent != "codex" || y.State != exec.Running || y.Offers() || y.OnFail != exec.FailWait {
			t.Fatalf("%+v", y)
		}
		if want := "a limit of the provider is reached (429); " + y.Name + " goes on with codex"; x.Reason != want {
			t.Errorf("%q, want %q", x.Reason, want)
		}
		other := w.status(y.Thread)
		if b := other.Once.Budget.USD; b == nil || *b != 0.75 || other.Once.Group != "night" || other.Dir != w.status(s.ID).Dir {
			t.Errorf("its thread: %+v in %s", other.Once, other.Dir)
		}
		if got := w.sess.of(y.Thread).prompts(); !strings.HasSuffix(got, "do it") {
			t.Errorf("it was asked %q", got)
		}
		if g := w.status(s.ID).Group(); g != thread.GroupQuiet {
			t.Errorf("what was passed on is in %q", g)
		}
		w.refused(y.Thread, thread.Exchange{Status: 429, Err: "limit", Until: time.Now().Add(5 * time.Hour)}) // it is limited too
		if y = w.execution(y.Thread); y.State != exec.Queued || y.Instead != "" || !strings.HasPrefix(y.Reason, "goes on at ") {
			t.Errorf("limited too: %+v", y)
		}
		if list, _ := w.m.Executions.List(context.Background(), exec.Query{}); len(list) != 2 {
			t.Errorf("%d executions", len(list))
		}
	}, withRuns)
}

// TestFallbackInTheGap: whatever of the fallback's beginning the store has when the server dies, the next one begins it once.
func TestFallbackInTheGap(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it", onCodex)
		w.shaky().set(func(op string) error { // the failed one is queued, then nothing more is stored
			if op == "supersede" {
				return thread.ErrUnreachable
			}
			return nil
		}, nil)
		w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
		if x := w.execution(s.ID); x.State != exec.Queued || x.Instead == "" {
			t.Fatalf("%+v", x)
		}
		w.crash()
		w.shaky().set(nil, nil)
		time.Sleep(time.Minute)
		y := w.passed(w.runIs(s.ID, exec.Failed))
		list, _ := w.m.Executions.List(context.Background(), exec.Query{})
		if len(list) != 2 || y.ID != list[0].ID {
			t.Errorf("%+v", list)
		}
	}, withShaky)
}

// TestFallbackStaysInItsScope: what takes a place is asked for by whoever asked for that, and is paid for by the same, though
// that has ended; it has the caps and what is left of the budget of what failed, not those of the thread.
func TestFallbackStaysInItsScope(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		above := w.once("above", ofGroup("night"))
		at := w.runIs(above.ID, exec.Running)
		s := w.once("do it", onCodex, func(r *thread.NewRequest) { r.By, r.InPlace, r.Once.Budget = above.ID, true, usd(5) })
		w.respond(s.ID, "do it", "call", false)
		first := w.runIs(s.ID, exec.Running)
		_, err := w.cfg.Runs.Store.Change(ctx, first.ID, first.Fence, func(x *exec.Execution) error {
			x.Budget, x.Caps.Calls = usd(1), 77
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.finish(above.ID, "above")
		w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
		x := w.runIs(s.ID, exec.Failed)
		y := w.passed(x)
		if y.By != above.ID || y.Within != at.ID || y.Group != "night" || y.Depth != x.Depth || x.Depth != 1 {
			t.Errorf("by %q within %q, group %q, depth %d", y.By, y.Within, y.Group, y.Depth)
		}
		if y.Caps.Calls != 77 || y.Budget.USD == nil || *y.Budget.USD != 0.75 {
			t.Errorf("caps %+v, budget %+v", y.Caps, y.Budget)
		}
	}, withRuns)
}

// TestFallbackIsNotTakenByItself: another agent, which would have other rights than were chosen, takes no place by itself; a
// person may have it.
func TestFallbackIsNotTakenByItself(t *testing.T) {
	for name, f := range map[string]thread.Flags{"mode": {PermissionMode: "plan"}, "arguments": {Args: []string{"--disallowedTools", "Bash"}}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("do it", onCodex, func(r *thread.NewRequest) { r.Flags = f })
				w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
				x := w.runIs(s.ID, exec.Failed)
				if x.Instead != "" || !x.Offers() {
					t.Fatalf("%+v", x)
				}
				if _, err := w.m.Executions.FallBack(context.Background(), x.ID); err != nil {
					t.Fatal(err)
				}
				if y := w.passed(w.runIs(s.ID, exec.Failed)); y.State != exec.Running {
					t.Errorf("%+v", y)
				}
			}, withRuns)
		})
	}
}

// TestFallbackKeepsTheWorktree: the end of what failed leaves the worktree alone, in which its fallback works.
func TestFallbackKeepsTheWorktree(t *testing.T) {
	for _, how := range []exec.Disposal{exec.DisposeBranch, exec.DisposeDrop} {
		inDisposed(t, func(w *world, f *merges) {
			s := w.once("do it", onCodex, func(r *thread.NewRequest) { r.Worktree, r.Once.Dispose = true, string(how) })
			w.runIs(s.ID, exec.Running)
			s = w.status(s.ID)
			w.trees.set(s.Worktree.Path, "half")
			w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
			y := w.passed(w.runIs(s.ID, exec.Failed))
			time.Sleep(10 * time.Minute)
			if gone(s) || len(f.log) > 0 || w.status(y.Thread).Dir != s.Dir {
				t.Errorf("%s: gone %v, git did %v", how, gone(s), f.log)
			}
		})
	}
}

// TestFallbackWaits: while the queue is paused no fallback begins.
func TestFallbackWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		s := w.once("do it", onCodex)
		if _, err := w.m.Executions.SetQueue(ctx, exec.QueueChange{Pause: true}); err != nil {
			t.Fatal(err)
		}
		w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
		time.Sleep(time.Minute)
		if x := w.runIs(s.ID, exec.Queued); len(w.list()) != 1 || w.status(s.ID).Run.Reason != "the queue is paused" {
			t.Errorf("%+v, %+v", x, w.status(s.ID).Run)
		}
		if _, err := w.m.Executions.SetQueue(ctx, exec.QueueChange{Resume: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if y := w.passed(w.runIs(s.ID, exec.Failed)); y.State != exec.Running {
			t.Errorf("%+v", y)
		}
	}, withRuns)
}

// TestFallbackWithoutItsPrompt: where the store does not take the prompt of a fallback, that is not what goes on: another one
// begins once the store is there again, and the work is done once.
func TestFallbackWithoutItsPrompt(t *testing.T) {
	for name, fails := range map[string]struct {
		put  func(w *world, on bool)
		undo error
	}{
		"refused":              {full, nil},
		"and what undoes it":   {full, thread.ErrDiskFull},
		"its answer is lost":   {func(w *world, on bool) { w.store.lose(on) }, nil},
		"and the row is there": {func(w *world, on bool) { w.store.lose(on) }, thread.ErrUnreachable},
	} {
		for _, crash := range []bool{false, true} {
			t.Run(fmt.Sprint(name, crash), func(t *testing.T) {
				inWorld(t, func(w *world) {
					s := w.once("do it", onCodex)
					w.shaky().set(func(op string) error {
						if op == "supersede" {
							return fails.undo
						}
						return nil
					}, func(op string) error {
						if op == "add" {
							fails.put(w, true)
						}
						return nil
					})
					w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
					x := w.execution(s.ID)
					if x.State != exec.Queued || x.Instead == "" {
						t.Fatalf("%+v", x)
					}
					if crash {
						w.crash()
					}
					w.shaky().set(nil, nil)
					fails.put(w, false)
					time.Sleep(5 * time.Minute)
					y := w.passed(w.runIs(s.ID, exec.Failed))
					if p := w.sess.of(y.Thread); y.State != exec.Running || p == nil || !strings.HasSuffix(p.prompts(), "do it") {
						t.Fatalf("%+v does not have the prompt", y)
					}
					list, err := w.m.Executions.List(context.Background(), exec.Query{})
					for _, z := range list {
						if z.ID != x.ID && z.ID != y.ID && !z.State.Final() {
							t.Errorf("%+v is left", z)
						}
					}
					if err != nil || len(list) < 2 {
						t.Errorf("%d executions, %v", len(list), err)
					}
				}, withShaky)
			})
		}
	}
}

// full has the store take no prompt.
func full(w *world, on bool) {
	if on {
		w.store.refusePrompts(thread.ErrDiskFull)
	} else {
		w.store.refusePrompts(nil)
	}
}

// TestFallbackModel: another model goes on in the same thread, and that one has no fallback.
func TestFallbackModel(t *testing.T) {
	inWorld(t, func(w *world) {
		var models []string
		w.sess.started = func(spec thread.SessionSpec) { models = append(models, strings.Join(spec.Launch.Args, " ")) }
		s := w.once("do it", func(r *thread.NewRequest) { r.Once.OnFail = "fallback" })
		w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
		x := w.runIs(s.ID, exec.Running)
		if x.Attempt != 2 || x.Model != "small" || !strings.Contains(x.Chosen, "the provider refuses the login (401)") || x.Offers() {
			t.Fatalf("%+v", x)
		}
		w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
		if x = w.runIs(s.ID, exec.Failed); x.Attempt != 2 || x.Instead != "" {
			t.Errorf("%+v", x)
		}
	}, withRuns, func(w *world) { w.cfg.Runs.Fallbacks = map[string]string{"claude": "model:small"} })
}

// TestRetry: what failed is tried again, or passed on, when a person decides so, and only then.
func TestRetry(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		s := w.once("do it", func(r *thread.NewRequest) { r.Once.Fallback = "codex" })
		x := w.runIs(s.ID, exec.Running)
		if _, err := w.m.Executions.Retry(ctx, x.ID); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("one that runs: %v", err)
		}
		w.refused(s.ID, thread.Exchange{Status: 401, Err: "no"})
		x = w.runIs(s.ID, exec.Failed)
		if st := w.status(s.ID); st.Run.Fallback != "codex" || st.Run.Do == "" || st.Group() != thread.GroupNeedsYou {
			t.Errorf("listed as %+v in %s", st.Run, st.Group())
		}
		if _, err := w.m.Executions.Retry(ctx, x.ID); err != nil {
			t.Fatal(err)
		}
		if x = w.runIs(s.ID, exec.Running); x.Attempt != 2 || w.sess.of(s.ID).prompts() != "do it" {
			t.Errorf("asked %q: %+v", w.sess.of(s.ID).prompts(), x)
		}
		w.respond(s.ID, "do it", "call", false)
		w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "it broke"})
		w.sess.of(s.ID).exit(1)
		w.runIs(s.ID, exec.Failed)
		if _, err := w.m.Executions.Retry(ctx, x.ID); err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Running)
		if got := w.sess.of(s.ID).prompts(); !strings.Contains(got, "Your last attempt failed: it broke. Look once") {
			t.Errorf("asked %q", got)
		}
		w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "it broke"})
		w.sess.of(s.ID).exit(1)
		w.runIs(s.ID, exec.Failed)
		if _, err := w.m.Executions.FallBack(ctx, x.ID); err != nil {
			t.Fatal(err)
		}
		y := w.passed(w.runIs(s.ID, exec.Failed))
		if _, err := w.m.Executions.FallBack(ctx, x.ID); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("a second time: %v", err)
		}
		if _, err := w.m.Executions.FallBack(ctx, y.ID); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("of a fallback: %v", err)
		}
		if _, err := w.m.Executions.Retry(ctx, x.ID); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("what was passed on: %v", err)
		}
	}, withRuns)
}

// TestNotWaiting: a person has what waits for its next attempt tried at once, or passed on, and its prompt is asked once.
func TestNotWaiting(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		limit := func() thread.Exchange {
			return thread.Exchange{Status: 429, Err: "limit", Until: time.Now().Add(5 * time.Hour)}
		}
		s := w.once("do it", func(r *thread.NewRequest) { r.Once.Fallback = "codex" })
		w.refused(s.ID, limit())
		x := w.runIs(s.ID, exec.Queued)
		if st := w.status(s.ID); st.Run.Fallback != "codex" || st.Run.Again.IsZero() {
			t.Errorf("listed as %+v", st.Run)
		}
		if _, err := w.m.Executions.Retry(ctx, x.ID); err != nil {
			t.Fatal(err)
		}
		if x = w.runIs(s.ID, exec.Running); x.Attempt != 2 || w.sess.of(s.ID).prompts() != "do it" {
			t.Errorf("asked %q: %+v", w.sess.of(s.ID).prompts(), x)
		}
		w.refused(s.ID, limit())
		waits := w.runIs(s.ID, exec.Queued)
		if _, err := w.m.Executions.FallBack(ctx, x.ID); err != nil {
			t.Fatal(err)
		}
		y := w.passed(w.runIs(s.ID, exec.Failed))
		if y.State != exec.Running || !strings.HasSuffix(w.sess.of(y.Thread).prompts(), "do it") {
			t.Errorf("%+v was asked %q", y, w.sess.of(y.Thread).prompts())
		}
		if p := w.promptOf(waits); !p.State.Over() {
			t.Errorf("the prompt of the attempt that it waited for is %s", p.State)
		}
	}, withRuns)
}

// TestFallbackIsChecked: what cannot take a place is refused before anything runs.
func TestFallbackIsChecked(t *testing.T) {
	inWorld(t, func(w *world) {
		for fallback, want := range map[string]error{
			"claude": thread.ErrInvalid, "model:": thread.ErrInvalid, "model:m1": thread.ErrInvalid, "nobody": thread.ErrNotFound, "plain": thread.ErrUnsupported,
		} {
			r := thread.NewRequest{Agent: "claude", Model: "m1", Prompt: "x", Once: thread.Once{On: true, Fallback: fallback}}
			if _, err := w.m.Creation.New(context.Background(), r); !errors.Is(err, want) {
				t.Errorf("%q: %v, want %v", fallback, err, want)
			}
		}
	}, withRuns, func(w *world) { w.agents["plain"] = &plainAgent{"plain"} })
}
