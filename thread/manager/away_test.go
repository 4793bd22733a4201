package manager_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// TestStoreAwayIsNotGone: while the store tells nothing of threads, no use case takes one at rest for one that is not
// there, and each works once the store answers.
func TestStoreAwayIsNotGone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(thread.NewRequest{Name: "child", Worktree: true})
		into := func(ref string) error {
			_, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: "child", Into: ref})
			return err
		}
		for name, use := range map[string]func(w *world, s thread.Status) error{
			"show": func(w *world, s thread.Status) error { _, err := w.m.Threads.Status(ctx, s.Name); return err },
			"show by the beginning of its name": func(w *world, s thread.Status) error {
				_, err := w.m.Threads.Status(ctx, s.Name[:5])
				return err
			},
			"show by its label": func(w *world, s thread.Status) error {
				_, err := w.m.Threads.Status(ctx, "The thread at rest")
				return err
			},
			"show by its id": func(w *world, s thread.Status) error { _, err := w.m.Threads.Status(ctx, string(s.ID)); return err },
			"pin":            func(w *world, s thread.Status) error { return w.m.Lifecycle.Pin(ctx, s.Name, true) },
			"timeline": func(w *world, s thread.Status) error {
				_, err := w.m.History.Timeline(ctx, s.Name, thread.Page{})
				return err
			},
			"fork": func(w *world, s thread.Status) error {
				_, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: s.Name, Label: "fork", NoStart: true})
				return err
			},
			"merge":  func(w *world, s thread.Status) error { return into(s.Name) },
			"prompt": func(w *world, s thread.Status) error { _, err := w.m.Prompts.List(ctx, s.Name, false); return err },
			"discard": func(w *world, s thread.Status) error {
				return w.m.Lifecycle.Discard(ctx, s.ID)
			},
			"delete": func(w *world, s thread.Status) error { return w.m.Lifecycle.Delete(ctx, s.Name) },
		} {
			s := w.create(thread.NewRequest{Label: "The thread at rest"})
			w.turn(s.ID, "p1")
			w.archive(s.Name)
			w.restart()
			w.store.tellNothing(true)
			if err := use(w, s); !errors.Is(err, thread.ErrUnreachable) || errors.Is(err, thread.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
			w.store.tellNothing(false)
			if err := use(w, s); errors.Is(err, thread.ErrUnreachable) || errors.Is(err, thread.ErrNotFound) {
				t.Errorf("%s, once the store answers: %v", name, err)
			}
			if err := w.m.Lifecycle.Delete(ctx, string(s.ID)); err != nil && !errors.Is(err, thread.ErrNotFound) {
				t.Fatal(err)
			}
		}
	}, func(w *world) { w.cfg.Merges = &merges{trees: w.trees} })
}

// TestStoreAwayTakesNoSession: an agent that opens the session of a thread at rest is not followed while the store does not
// tell whose that is.
func TestStoreAwayTakesNoSession(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{Label: "one"})
		w.turn(a.ID, "p1")
		session := w.status(a.ID).Session
		w.archive(a.Name)
		w.restart()
		b := w.create(thread.NewRequest{Label: "two"})
		own := w.status(b.ID).Session
		w.store.tellNothing(true)
		answer := item("assistant", "yes")
		w.m.Traffic.RequestStarted(b.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
		w.m.Traffic.ExchangeEnded(b.ID, thread.Exchange{
			Main: true, Model: "m1", Session: session, Status: 200, Started: time.Now(), Ended: time.Now(),
			Items: []thread.Item{item("user", "p")}, Answer: &answer, Prompt: "p", Text: "yes", Stop: "end_turn", EndsTurn: true,
		})
		synctest.Wait()
		w.store.tellNothing(false)
		if s := w.status(b.ID); s.Session != own || session == "" {
			t.Errorf("the session %q of a thread at rest was taken over", s.Session)
		}
	})
}

// TestStoreAwayResumesNothing: an agent is not resumed, neither in its session nor with a summary instead of that, while
// the store does not tell whose its session is.
func TestStoreAwayResumesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1")
		if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
			t.Fatal(err)
		}
		session := w.status(s.ID).Session
		w.store.tellNothing(true)
		if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); !errors.Is(err, thread.ErrUnreachable) || w.status(s.ID).Execution != nil {
			t.Errorf("started: %v", err)
		}
		w.store.tellNothing(false)
		if got := w.resumed(s); got != "--resume "+session {
			t.Errorf("started with %s", got)
		}
	})
}

// TestStoreAwayRestoresNoFiles: a rewind of files in a folder where threads at rest have written, too, restores none while the
// store does not tell of them.
func TestStoreAwayRestoresNoFiles(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{InPlace: true})
		b := w.create(thread.NewRequest{InPlace: true})
		w.talk(a.ID, 1, 2)
		w.turn(b.ID, "p1")
		w.archive(b.Name)
		w.restart()
		was := w.trees.get(a.Dir)
		w.store.tellNothing(true)
		_, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: a.Name, At: "1", Files: true})
		if !errors.Is(err, thread.ErrUnreachable) || w.trees.get(a.Dir) != was {
			t.Errorf("rewound: %v; the files are %q, they were %q", err, w.trees.get(a.Dir), was)
		}
		w.store.tellNothing(false)
	})
}

// TestStoreAwayAtTheStart: a start that the store does not tell of the parent of a thread is an error, not one without it.
func TestStoreAwayAtTheStart(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Label: "one"})
		w.turn(p.ID, "p1")
		child, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "child", NoStart: true})
		if err != nil {
			t.Fatal(err)
		}
		w.archive(p.Name)
		w.close()
		w.store.unreadable(1)
		if err := w.opens(); !errors.Is(err, thread.ErrUnreachable) {
			t.Errorf("opened: %v", err)
		}
		w.close()
		w.open()
		if s := w.status(child.ID); s.Depth != 1 {
			t.Errorf("the fork stands at depth %d", s.Depth)
		}
	})
}

// TestWokenWithItsPrompts: of two that use a thread at rest at once, neither gets it before its prompts are read, and nobody
// gets it while they cannot be read.
func TestWokenWithItsPrompts(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1")
		w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()}) // it is busy
		p, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: "do this"})
		if err != nil || p.State != thread.PromptQueued {
			t.Fatalf("%+v: %v", p, err)
		}
		w.archive(s.Name)
		w.restart()
		release := w.store.holdPrompts()
		errs := make(chan error, 2)
		go func() { errs <- w.m.Lifecycle.Pin(ctx, s.Name, true) }()
		synctest.Wait() // it reads them
		go func() { _, err := w.m.Prompts.Edit(ctx, p.ID, "do that"); errs <- err }()
		synctest.Wait()
		select {
		case err := <-errs:
			t.Errorf("the thread was used without its prompts: %v", err)
			errs <- err
		default:
		}
		release()
		synctest.Wait()
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if q, err := w.store.Prompt(ctx, p.ID); err != nil || q.Text != "do that" {
			t.Errorf("the prompt is %q: %v", q.Text, err)
		}
		if s := w.status(s.ID); s.Queued != 1 || !s.Pinned {
			t.Errorf("listed as %+v", s)
		}

		w.restart()
		w.store.tellNothing(true)
		if err := w.m.Lifecycle.Pin(ctx, s.Name, false); !errors.Is(err, thread.ErrUnreachable) || strings.Contains(err.Error(), "no thread") {
			t.Errorf("unpinned: %v", err)
		}
		w.store.tellNothing(false)
	})
}
