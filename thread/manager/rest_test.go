package manager_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// listed returns the names of the threads that are live, and of those in the archive.
func (w *world) listed() (live, archive []string) {
	w.t.Helper()
	list, err := w.m.Threads.List(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range list {
		live = append(live, s.Name)
	}
	for after := int64(0); ; {
		page, next, err := w.m.Threads.Archive(ctx, "", after, 1)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range page {
			archive = append(archive, s.Name)
		}
		if after = next; next == 0 {
			return live, archive
		}
	}
}

func (w *world) archive(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := w.m.Lifecycle.Archive(ctx, name); err != nil {
			w.t.Fatal(err)
		}
	}
}

// restart closes the Manager and opens it again.
func (w *world) restart() {
	w.t.Helper()
	w.close()
	w.open()
}

// TestRest archives threads: after a restart they are in the store only, found there by whatever people call them by,
// and become live when they are used.
func TestRest(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{Label: "add a login page"})
		w.turn(a.ID, "p1")
		b := w.create(thread.NewRequest{Label: "fix the parser"})
		c := w.create(thread.NewRequest{Label: "look around"})
		w.archive(a.Name, b.Name)
		if err := w.m.Lifecycle.Delete(ctx, b.Name); err != nil {
			t.Fatal(err)
		}
		w.restart()
		if live, archive := w.listed(); !slices.Equal(live, []string{c.Name}) || !slices.Equal(archive, []string{a.Name}) {
			t.Fatalf("live %q, archive %q", live, archive)
		}
		for what, ref := range map[string]string{
			"name": a.Name, "prefix": a.Name[:7], "slug": "add-a-login-page", "label": "Add a login page", "id": string(a.ID), "short id": string(a.ID)[:8],
		} {
			s, err := w.m.Threads.Status(ctx, ref)
			if err != nil || s.ID != a.ID || s.Turn != 1 || s.Archived.IsZero() {
				t.Errorf("by its %s: %+v, %v", what, s, err)
			}
		}
		for _, ref := range []string{b.Name, string(b.ID), "fix"} {
			if _, err := w.m.Threads.Status(ctx, ref); !errors.Is(err, thread.ErrNotFound) {
				t.Errorf("a deleted thread is found by %q: %v", ref, err)
			}
		}
		if live, _ := w.listed(); len(live) != 1 {
			t.Errorf("who is looked at becomes live: %q", live)
		}
		var unknown *thread.UnknownThreadError
		if _, err := w.m.Threads.Status(ctx, "add-a-logn-page"); !errors.As(err, &unknown) || unknown.Many {
			t.Errorf("a mistyped name: %v", err)
		}
		if turns, err := w.m.History.Timeline(ctx, a.Name, thread.Page{}); err != nil || len(turns) == 0 {
			t.Errorf("%d turns: %v", len(turns), err)
		}
		if err := w.m.Lifecycle.Unarchive(ctx, "add-a"); err != nil {
			t.Fatal(err)
		}
		if err := w.m.Lifecycle.Undelete(ctx, "fix-the"); err != nil {
			t.Fatal(err)
		}
		if err := w.m.Lifecycle.Unarchive(ctx, b.Name); err != nil {
			t.Fatal(err)
		}
		live, archive := w.listed()
		if slices.Sort(live); len(live) != 3 || len(archive) != 0 {
			t.Errorf("live %q, archive %q", live, archive)
		}
		w.restart()
		if live, _ := w.listed(); !slices.Equal(live, []string{a.Name, b.Name, c.Name}) {
			t.Errorf("after another start: %q", live)
		}
		if _, err := w.m.Agents.Start(ctx, a.Name, 80, 24); err != nil {
			t.Errorf("it starts: %v", err)
		}
	})
}

// TestRestOfFamilies archives a chain of forks but its last: what that was forked from stays live, so that it stands
// where it stood, and forks of an archived thread count it.
func TestRestOfFamilies(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{Label: "one"})
		w.turn(a.ID, "p1")
		fork := func(from thread.ID, label string) thread.Status {
			s, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: string(from), Label: label})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		b := fork(a.ID, "two")
		c := fork(b.ID, "three")
		alone := fork(b.ID, "alone")
		w.archive(a.Name, b.Name, alone.Name)
		w.restart()
		if s := w.status(c.ID); s.Depth != 2 {
			t.Errorf("its depth is %d", s.Depth)
		}
		if live, _ := w.listed(); !slices.Equal(live, []string{a.Name, b.Name, c.Name}) {
			t.Errorf("live: %q", live)
		}
		w.archive(c.Name)
		w.restart()
		if live, archive := w.listed(); len(live) != 0 || len(archive) != 4 {
			t.Fatalf("live %q, archive %q", live, archive)
		}
		if s := fork(c.ID, "four"); s.Depth != 3 {
			t.Errorf("the depth of a fork of an archived thread is %d", s.Depth)
		}
		live, _ := w.listed()
		if slices.Sort(live); len(live) != 4 || slices.Contains(live, alone.Name) {
			t.Errorf("live after a fork: %q", live)
		}
	}, func(w *world) { w.cfg.Limits.Depth = 10 })
}

// TestRestDiscards removes a thread that is in the store only.
func TestRestDiscards(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{Label: "one"})
		w.archive(a.Name)
		w.restart()
		if err := w.m.Lifecycle.Discard(ctx, a.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Threads.Status(ctx, a.Name); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("it is found: %v", err)
		}
		if live, archive := w.listed(); len(live)+len(archive) != 0 {
			t.Errorf("live %q, archive %q", live, archive)
		}
	})
}

// TestRestKeepsSessions archives a thread: its agent's session is not taken for that of another.
func TestRestKeepsSessions(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{Label: "one"})
		w.turn(a.ID, "p1")
		session := w.status(a.ID).Session
		w.archive(a.Name)
		w.restart()
		b := w.create(thread.NewRequest{Label: "two"})
		answer := item("assistant", "yes")
		w.m.Traffic.RequestStarted(b.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
		w.m.Traffic.ExchangeEnded(b.ID, thread.Exchange{
			Main: true, Model: "m1", Session: session, Status: 200, Started: time.Now(), Ended: time.Now(),
			Items: []thread.Item{item("user", "p")}, Answer: &answer, Prompt: "p", Text: "yes", Stop: "end_turn", EndsTurn: true,
		})
		synctest.Wait()
		if s := w.status(b.ID); s.Session == session || session == "" {
			t.Errorf("the session %q was taken over", s.Session)
		}
	})
}

// TestRestKeepsPrompts archives a thread whose agent has a prompt: it is listed while the thread rests, and what became
// of it is found out when the thread is used again.
func TestRestKeepsPrompts(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{Label: "one"})
		p, err := w.m.Prompts.Ask(ctx, a.Name, thread.AskRequest{Text: "do this"})
		if err != nil {
			t.Fatal(err)
		}
		w.archive(a.Name)
		w.restart()
		list, err := w.m.Prompts.List(ctx, "", false)
		if err != nil || len(list) != 1 || list[0].ID != p.ID {
			t.Errorf("prompts %+v: %v", list, err)
		}
		if live, _ := w.listed(); len(live) != 0 {
			t.Errorf("live: %q", live)
		}
		if err := w.m.Lifecycle.Unarchive(ctx, a.Name); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := w.status(a.ID); len(s.Prompts) != 1 || s.Prompts[0].State != thread.PromptInterrupted {
			t.Errorf("it shows %+v", s.Prompts)
		}
	})
}

// TestRestAtOnce puts a thread to rest while the server runs: it is in the store only, unless a live thread was forked
// from it.
func TestRestAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{Label: "one"})
		w.turn(a.ID, "p1")
		b, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: string(a.ID), Label: "two"})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []thread.ID{a.ID, b.ID} {
			if err := w.m.Lifecycle.Rest(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		live, archive := w.listed()
		if !slices.Equal(live, []string{a.Name}) || !slices.Equal(archive, []string{b.Name, a.Name}) {
			t.Errorf("live %q, archive %q", live, archive)
		}
		if err := w.m.Lifecycle.Rest(ctx, a.ID); err != nil {
			t.Fatal(err)
		}
		if live, _ := w.listed(); len(live) != 0 {
			t.Errorf("live %q", live)
		}
		if err := w.m.Lifecycle.Unarchive(ctx, b.Name); err != nil {
			t.Fatal(err)
		}
		if s := w.status(b.ID); s.Depth != 1 || s.Turn != 1 {
			t.Errorf("used again: %+v", s)
		}
	})
}
