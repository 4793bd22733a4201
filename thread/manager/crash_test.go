package manager_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
)

// deed is a use case that is killed at each of its steps.
type deed struct {
	name string
	// do is the use case; what it returns counts for nothing when it was killed.
	do func(w *world, f *merges, parent, fork thread.Status) error
	// twice is set where doing it again after the crash must work.
	twice bool
}

var deeds = []deed{
	{"turn", func(w *world, _ *merges, p, _ thread.Status) error { w.turn(p.ID, "one more"); return nil }, true},
	{"new", func(w *world, _ *merges, _, _ thread.Status) error {
		_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Worktree: true})
		return err
	}, true},
	{"fork", func(w *world, _ *merges, p, _ thread.Status) error {
		_, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: string(p.ID), At: "1", Label: "killed"})
		return err
	}, true},
	{"fork into another agent", func(w *world, _ *merges, p, _ thread.Status) error {
		_, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: string(p.ID), Agent: "codex", Label: "killed"})
		return err
	}, true},
	{"rewind", func(w *world, _ *merges, p, _ thread.Status) error {
		_, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: string(p.ID), At: "1", Files: true, Conversation: true})
		return err
	}, true},
	{"merge and finish", func(w *world, _ *merges, _, c thread.Status) error {
		_, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: string(c.ID), Finish: true, Note: thread.NoteAlways})
		return err
	}, false},
	{"conflict and continue", func(w *world, f *merges, _, c thread.Status) error {
		f.conflicts = []string{"a"}
		_, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: string(c.ID), Note: thread.NoteAlways})
		f.conflicts = nil
		if err == nil {
			_, err = w.m.Merges.Continue(ctx, string(c.ID))
		}
		return err
	}, false},
	{"delete and discard", func(w *world, _ *merges, _, c thread.Status) error {
		if err := w.m.Lifecycle.Delete(ctx, string(c.ID)); err != nil {
			return err
		}
		return w.m.Lifecycle.Discard(ctx, c.ID)
	}, false},
	{"archive", func(w *world, _ *merges, _, c thread.Status) error { return w.m.Lifecycle.Archive(ctx, string(c.ID)) }, true},
}

// TestKilledAtEachStep kills every use case before and behind each of its steps and starts again: no
// thread is half there, every conversation can be read and gone on with, and what was uncommitted is
// in a folder or in a commit.
func TestKilledAtEachStep(t *testing.T) {
	for _, d := range sample.Of(t, 2, deeds) {
		t.Run(d.name, func(t *testing.T) {
			for _, after := range []bool{false, true} {
				for at := 1; killedAt(t, d, at, after); at++ {
					if at > 200 {
						t.Fatal("the use case has no end")
					}
				}
			}
		})
	}
}

// KilledAt runs a use case that dies at a step; false when it has no such step.
func killedAt(t *testing.T, d deed, at int, after bool) (died bool) {
	t.Helper()
	f := &merges{}
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Name: "parent"})
		w.talk(p.ID, 1, 2)
		c := w.fork(thread.ForkRequest{Thread: p.Name, Label: "child"})
		w.talk(c.ID, 3, 3)
		w.trees.set(p.Dir, "uncommitted in the parent")
		w.trees.set(c.Dir, "uncommitted in the child")
		w.store.fuse.arm(at, after)
		err := d.do(w, f, p, c)
		synctest.Wait()
		if died = w.store.fuse.died(); !died {
			if err != nil {
				t.Errorf("%s: %v", d.name, err)
			}
			return
		}
		w.crash()
		where := fmt.Sprintf("%s killed at step %d (behind it: %v)", d.name, at, after)
		if f.open { // conflicts wait for a person, before and after a crash
			if _, err := w.m.Merges.Continue(ctx, string(c.ID)); err != nil {
				t.Errorf("%s: continue: %v", where, err)
			}
		}
		w.intact(where, p, c)
		if d.twice {
			if err := d.do(w, f, p, c); err != nil {
				t.Errorf("%s: again: %v", where, err)
			}
			synctest.Wait()
			w.intact(where+", again", p, c)
		}
	}, func(w *world) {
		f.trees = w.trees
		w.cfg.Merges, w.cfg.Differ = mortalMerges{f, w}, differ{}
	})
	return died
}

// intact checks what must be true after any crash.
func (w *world) intact(where string, before ...thread.Status) {
	w.t.Helper()
	list, err := w.m.Threads.List(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	sessions := make(map[string]string)
	for _, s := range list {
		if other := sessions[s.Session]; s.Session != "" && other != "" {
			w.t.Errorf("%s: %s and %s share a session", where, s.Name, other)
		}
		sessions[s.Session] = s.Name
		w.usable(where, s)
	}
	for _, b := range before {
		items, err := w.store.Conversation(ctx, b.Head)
		if errors.Is(err, thread.ErrNotFound) {
			continue // purged
		}
		if err != nil || len(items) == 0 {
			w.t.Errorf("%s: the conversation of %s: %v", where, b.Name, err)
		}
	}
	for _, text := range []string{"uncommitted in the parent", "uncommitted in the child"} {
		if !w.trees.holds(text) {
			w.t.Errorf("%s: %q is gone", where, text)
		}
	}
	intents, err := w.store.Intents(ctx)
	if err != nil || len(intents) > 0 {
		w.t.Errorf("%s: left under way: %+v %v", where, intents, err)
	}
}

// usable checks that a listed thread is whole and can be gone on with.
func (w *world) usable(where string, s thread.Status) {
	w.t.Helper()
	if s.State.State.Live() && w.sess.of(s.ID) == nil {
		w.t.Errorf("%s: %s shows %s and nothing runs", where, s.Name, s.State.State)
	}
	if s.Worktree.Path == "" && s.Dir != w.dir {
		w.t.Errorf("%s: %s runs in %s", where, s.Name, s.Dir)
	}
	if s.Worktree.Path != "" && s.Archived.IsZero() && w.trees.removed[s.Worktree.Path] {
		w.t.Errorf("%s: the worktree of %s is gone", where, s.Name)
	}
	if !s.Archived.IsZero() {
		return
	}
	if _, err := w.m.Agents.Start(ctx, string(s.ID), 0, 0); err != nil {
		w.t.Errorf("%s: resume %s: %v", where, s.Name, err)
		return
	}
	synctest.Wait()
	if s.Head == "" {
		return
	}
	items, err := w.store.Conversation(ctx, s.Head)
	if err != nil {
		w.t.Errorf("%s: the conversation of %s: %v", where, s.Name, err)
		return
	}
	// The agent knows all that was said: natively, or by a primer.
	now := w.status(s.ID)
	native, primer := texts(w.natives.conversation(now.Session)), w.sess.of(s.ID).prompts()
	if native == "" && primer == "" || native != "" && len(native) < len(texts(items)) {
		w.t.Errorf("%s: %s goes on with %q, primer %q, and had said %q", where, s.Name, native, primer, texts(items))
	}
}

// holds reports whether a content is in a folder or in a commit.
func (w *worktrees) holds(content string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.content {
		if c == content {
			return true
		}
	}
	for _, c := range w.commits {
		if c == content {
			return true
		}
	}
	return false
}

// mortalMerges is the merges with a fuse.
type mortalMerges struct {
	*merges
	w *world
}

func (f mortalMerges) Commit(ctx context.Context, dir, message string) (string, error) {
	return step(f.w.store.fuse, func() (string, error) { return f.merges.Commit(ctx, dir, message) })
}

func (f mortalMerges) Merge(ctx context.Context, into, branch, message string) (thread.Merged, error) {
	return step(f.w.store.fuse, func() (thread.Merged, error) { return f.merges.Merge(ctx, into, branch, message) })
}

func (f mortalMerges) Continue(ctx context.Context, into string) (thread.Merged, error) {
	return step(f.w.store.fuse, func() (thread.Merged, error) { return f.merges.Continue(ctx, into) })
}
