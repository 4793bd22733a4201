package manager_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// merges is a Merges of functions over the worktrees' strings.
type merges struct {
	trees     *worktrees
	conflicts []string
	refuse    error
	open      bool // a merge with conflicts waits
	kept      string
	log       []string
	clean     bool              // there are no uncommitted changes
	merging   func()            // called in a merge
	on        map[string]string // the branch in a folder, where it is not the usual one
}

func (f *merges) Commit(_ context.Context, dir, message string) (string, error) {
	f.log = append(f.log, "commit "+message)
	return "c1", nil
}

func (f *merges) Merge(_ context.Context, into, branch, _ string) (thread.Merged, error) {
	f.log = append(f.log, "merge "+branch)
	if f.merging != nil {
		f.merging()
	}
	if f.refuse != nil {
		return thread.Merged{}, f.refuse
	}
	if len(f.conflicts) > 0 {
		f.open = true
		return thread.Merged{Conflicts: f.conflicts}, nil
	}
	f.trees.set(into, "merged")
	return thread.Merged{Commit: "0123456789abcdef"}, nil
}

func (f *merges) Preview(context.Context, string, string) (thread.Merged, error) {
	return thread.Merged{Conflicts: f.conflicts}, nil
}

func (f *merges) Continue(context.Context, string) (thread.Merged, error) {
	if len(f.conflicts) > 0 {
		return thread.Merged{Conflicts: f.conflicts}, nil
	}
	f.open = false
	return thread.Merged{Commit: "c3"}, nil
}

func (f *merges) Abort(context.Context, string) error {
	f.open = false
	f.log = append(f.log, "abort")
	return nil
}

func (f *merges) Repair(context.Context, string) error { return nil }

func (f *merges) InProgress(context.Context, string) (bool, error) { return f.open, nil }

func (f *merges) Unresolved(context.Context, string) ([]string, error) { return f.conflicts, nil }

func (f *merges) Reachable(context.Context, string, string) (bool, string, error) {
	return f.kept == "", f.kept, nil
}

func (f *merges) Branch(_ context.Context, dir string) (string, error) {
	if on, known := f.on[dir]; known {
		return on, nil
	}
	if name, ok := strings.CutPrefix(filepath.Base(dir), "wt-"); ok {
		return "orchestrator/" + name, nil
	}
	return "main", nil
}

// differ tells one file.
// Diff implements thread.Differ.
func (f *merges) Diff(_ context.Context, _, from, _ string) ([]thread.FileDiff, error) {
	if f.clean && from == "HEAD" {
		return nil, nil
	}
	return differ{}.Diff(context.Background(), "", "", "")
}

type differ struct{}

func (differ) Diff(context.Context, string, string, string) ([]thread.FileDiff, error) {
	return []thread.FileDiff{{Path: "login.go", Status: "modified", Insertions: 3, Deletions: 1}}, nil
}

// inMerge runs a test with a parent and a fork that has answered once.
func inMerge(t *testing.T, test func(w *world, f *merges, parent, fork thread.Status)) {
	t.Helper()
	f := &merges{}
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Name: "parent"})
		w.talk(p.ID, 1, 1)
		c := w.fork(thread.ForkRequest{Thread: p.Name, Label: "try jwt"})
		w.talk(c.ID, 2, 2)
		test(w, f, p, c)
	}, func(w *world) {
		f.trees = w.trees
		w.cfg.Merges, w.cfg.Differ = f, differ{}
	})
}

// TestCutOffMergeIsNotMerged has the server die in a merge that never came to be: the thread does not count as merged.
func TestCutOffMergeIsNotMerged(t *testing.T) {
	inMerge(t, func(w *world, f *merges, p, c thread.Status) {
		f.conflicts = []string{"login.go"}
		if r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); err != nil || !r.Stopped {
			t.Fatalf("merge: %+v, %v", r, err)
		}
		f.open, f.kept = false, "1 commit"
		w.crash()
		if got := w.status(c.ID).Outcome.Kind; got != thread.OutcomeNone {
			t.Errorf("the outcome is %q", got)
		}
		f.kept = ""
		w.crash()
		if got := w.status(c.ID).Outcome.Kind; got != thread.OutcomeNone {
			t.Errorf("the outcome at the next start is %q", got)
		}
	})
}

// A merge says who else works in the folders it goes from and to, and a worktree where somebody works stays.
func TestMergeOfASharedFolder(t *testing.T) {
	inMerge(t, func(w *world, f *merges, p, c thread.Status) {
		in := w.fork(thread.ForkRequest{Thread: c.Name, Label: "inside", NoWorktree: true})
		beside := w.create(thread.NewRequest{Name: "beside", InPlace: true})
		w.create(thread.NewRequest{Name: "apart", Worktree: true})
		for _, dry := range []bool{true, false} {
			r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, DryRun: dry, Finish: true})
			if err != nil || !slices.Equal(r.Shared, []string{in.Name}) || !slices.Equal(r.Beside, []string{beside.Name}) {
				t.Errorf("dry %v: with %q, beside %q, %v", dry, r.Shared, r.Beside, err)
			}
			if !dry && (!r.Finished || !strings.Contains(r.Kept, in.Name)) {
				t.Errorf("finished: %+v", r)
			}
		}
		if w.trees.get(c.Worktree.Path) == "" {
			t.Error("the folder of a thread that works is gone")
		}
		if err := w.m.Lifecycle.Archive(ctx, in.Name); err != nil {
			t.Fatal(err)
		}
		if r, err := w.m.Merges.Finish(ctx, c.Name); err != nil || r.Kept != "" {
			t.Errorf("nobody works there any more: %+v, %v", r, err)
		}
	})
}

func TestMergeTellsTheParent(t *testing.T) {
	inMerge(t, func(w *world, f *merges, p, c thread.Status) {
		r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Note: thread.NoteAlways})
		if err != nil || r.Commit == "" || r.Into != "main" || len(r.Files) != 1 || r.Finished {
			t.Fatalf("merge %+v %v", r, err)
		}
		synctest.Wait()
		if got := strings.Join(f.log, ", "); got != "commit try jwt, merge "+c.Worktree.Branch {
			t.Errorf("did %s", got)
		}
		told := w.sess.of(p.ID).prompts()
		for _, want := range []string{c.Name, "login.go", "answer to p2", "try jwt", "0123456789ab"} {
			if !strings.Contains(told, want) {
				t.Errorf("told without %q: %s", want, told)
			}
		}
		s := w.status(c.ID)
		if s.Outcome.Kind != thread.OutcomeMerged || s.Outcome.Into != p.ID || s.Outcome.Commit != r.Commit {
			t.Errorf("outcome %+v", s.Outcome)
		}
		for _, id := range []thread.ID{p.ID, c.ID} {
			list, err := w.store.Checkpoints(ctx, id, thread.Page{Limit: 1})
			if err != nil || list[0].Kind != thread.KindSafety || list[0].Snapshot == nil {
				t.Errorf("no safety checkpoint: %+v %v", list, err)
			}
		}
		if intents, _ := w.store.Intents(ctx); len(intents) != 0 {
			t.Errorf("intents %v", intents)
		}
	})
}

// TestNoteQuotesWhatTheThreadStandsOn: what a rewind left behind is not told as the thread's last answer.
func TestNoteQuotesWhatTheThreadStandsOn(t *testing.T) {
	inMerge(t, func(w *world, _ *merges, _, c thread.Status) {
		time.Sleep(time.Second)
		w.talk(c.ID, 3, 3)
		time.Sleep(time.Second)
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: c.Name, At: "2", Conversation: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name})
		if err != nil || !strings.Contains(r.Summary, "answer to p2") || strings.Contains(r.Summary, "answer to p3") {
			t.Errorf("%v, told: %s", err, r.Summary)
		}
	})
}

// TestMergeAsksBeforeItTells: a note is a prompt that costs a turn, and nobody asked for it.
func TestMergeAsksBeforeItTells(t *testing.T) {
	inMerge(t, func(w *world, _ *merges, p, c thread.Status) {
		told := func() string { synctest.Wait(); return w.sess.of(p.ID).prompts() }
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, NoteOnly: true}); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("a note of no merge: %v", err)
		}
		r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Finish: true})
		if err != nil || !r.Ask || r.Told || r.Summary == "" || told() != "" {
			t.Fatalf("merge %+v %v, told %q", r, err, told())
		}
		r, err = w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, NoteOnly: true})
		if err != nil || !r.Told || r.Ask || !strings.Contains(told(), c.Name) || !strings.Contains(told(), "0123456789ab") {
			t.Errorf("note %+v %v, told %q", r, err, told())
		}
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Note: "perhaps"}); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("an odd mode: %v", err)
		}
	})
}

// TestMergesInARow merges a second fork while the parent answers the note of the first: it waits for that answer. What
// the person asked is in the way.
func TestMergesInARow(t *testing.T) {
	inMerge(t, func(w *world, _ *merges, p, c thread.Status) {
		d := w.fork(thread.ForkRequest{Thread: p.Name, Label: "try cookies"})
		w.talk(d.ID, 2, 2)
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Note: thread.NoteAlways}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		note := w.sess.of(p.ID).prompts()
		w.respond(p.ID, note, "call", false)
		synctest.Wait()
		done := make(chan error, 1)
		go func() {
			_, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: d.Name, Note: thread.NoteNever})
			done <- err
		}()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("it did not wait for the note's answer: %v", err)
		default:
		}
		w.respond(p.ID, note, "noted", true)
		if err := <-done; err != nil {
			t.Errorf("the second merge: %v", err)
		}
		w.respond(p.ID, "what the person asked", "call", false)
		begin := time.Now()
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: d.Name}); !errors.Is(err, thread.ErrBusy) || time.Since(begin) > 10*time.Second {
			t.Errorf("while the parent works: %v after %v", err, time.Since(begin))
		}
	})
}

func TestMergeTellsABusyParentLater(t *testing.T) {
	inMerge(t, func(w *world, _ *merges, p, c thread.Status) {
		w.m.Traffic.Hook(p.ID, "PermissionRequest", nil)
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Note: thread.NoteAlways}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if told := w.sess.of(p.ID).prompts(); told != "" {
			t.Errorf("told in a dialog: %s", told)
		}
		w.crash()
		if _, err := w.m.Agents.Start(ctx, p.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.m.Traffic.Hook(p.ID, "SessionStart", nil)
		synctest.Wait()
		if told := w.sess.of(p.ID).prompts(); !strings.Contains(told, c.Name) {
			t.Errorf("told later: %q", told)
		}
		w.m.Traffic.Hook(p.ID, "Stop", nil)
		synctest.Wait()
		if told := w.sess.of(p.ID).prompts(); strings.Count(told, "For your information") != 1 {
			t.Errorf("told twice: %q", told)
		}
	})
}

func TestMergeConflicts(t *testing.T) {
	inMerge(t, func(w *world, f *merges, p, c thread.Status) {
		f.conflicts = []string{"login.go"}
		r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Finish: true})
		if err != nil || len(r.Conflicts) != 1 || r.Dir != p.Dir {
			t.Fatalf("merge %+v %v", r, err)
		}
		if s := w.status(c.ID); s.Outcome.Kind != thread.OutcomeNone || !s.Archived.IsZero() {
			t.Errorf("outcome of an unfinished merge: %+v", s.Outcome)
		}
		for _, dry := range []bool{true, false} {
			r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, DryRun: dry})
			if err != nil || !r.Stopped || len(r.Conflicts) != 1 {
				t.Errorf("merged again, dry=%v, leads not back to where it stopped: %+v %v", dry, r, err)
			}
		}
		other := w.fork(thread.ForkRequest{Thread: p.Name, Label: "other"})
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: other.Name}); !errors.Is(err, thread.ErrConflict) {
			t.Errorf("another's merge: %v", err)
		}
		w.crash()
		if !strings.Contains(w.events.notices(), "is not finished") {
			t.Errorf("told %s", w.events.notices())
		}
		if r, err := w.m.Merges.Continue(ctx, c.Name); !errors.Is(err, thread.ErrConflict) || len(r.Conflicts) != 1 {
			t.Errorf("continue too early: %+v %v", r, err)
		}
		f.conflicts = nil
		r, err = w.m.Merges.Continue(ctx, c.Name)
		if err != nil || r.Commit != "c3" || !r.Finished {
			t.Errorf("continue: %+v %v", r, err)
		}
		if s := w.status(c.ID); s.Outcome.Kind != thread.OutcomeMerged || s.Archived.IsZero() {
			t.Errorf("after: %+v", s.Thread)
		}
		if _, err := w.m.Merges.Continue(ctx, c.Name); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("continue without a merge: %v", err)
		}
	})
}

// TestTimelineOfAMergeThatCameToNothing: a merge that was taken back, or refused, is no part of what was done in
// either thread; what was kept before it is still there.
func TestTimelineOfAMergeThatCameToNothing(t *testing.T) {
	inMerge(t, func(w *world, f *merges, p, c thread.Status) {
		rows := func(name string, page thread.Page) (notes []string) {
			list, err := w.m.History.Timeline(ctx, name, page)
			if err != nil {
				t.Error(err)
			}
			for _, cp := range list {
				if cp.Kind == thread.KindSafety {
					notes = append(notes, cp.Note)
				}
			}
			return notes
		}
		f.conflicts = []string{"a.go"}
		for range 2 {
			if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); err != nil {
				t.Fatal(err)
			}
			for _, s := range []thread.Status{p, c} {
				if notes := rows(s.Name, thread.Page{Turns: true}); len(notes) != 1 || !strings.HasPrefix(notes[0], "before the merge") {
					t.Errorf("while it waits for the person: %q", notes)
				}
			}
			if err := w.m.Merges.Abort(ctx, c.Name); err != nil {
				t.Fatal(err)
			}
			for _, s := range []thread.Status{p, c} {
				if notes := rows(s.Name, thread.Page{Turns: true, All: true}); len(notes) > 0 {
					t.Errorf("it was taken back: %q", notes)
				}
			}
		}
		if notes := rows(c.Name, thread.Page{}); len(notes) != 4 {
			t.Errorf("what was kept is gone: %q", notes)
		}
		f.conflicts, f.refuse = nil, thread.ErrConflict
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); !errors.Is(err, thread.ErrConflict) {
			t.Fatal(err)
		}
		if notes := append(rows(p.Name, thread.Page{Turns: true}), rows(c.Name, thread.Page{Turns: true})...); len(notes) > 0 {
			t.Errorf("it was refused: %q", notes)
		}
		f.refuse = nil
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); err != nil {
			t.Fatal(err)
		}
		if notes := rows(c.Name, thread.Page{Turns: true}); len(notes) != 1 {
			t.Errorf("one that was made: %q", notes)
		}
	})
}

func TestMergeAbort(t *testing.T) {
	inMerge(t, func(w *world, f *merges, _, c thread.Status) {
		if err := w.m.Merges.Abort(ctx, c.Name); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("abort without a merge: %v", err)
		}
		f.conflicts = []string{"a"}
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); err != nil {
			t.Fatal(err)
		}
		if err := w.m.Merges.Abort(ctx, c.Name); err != nil || f.open {
			t.Errorf("abort: %v", err)
		}
		f.conflicts = nil
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); err != nil {
			t.Errorf("merge again: %v", err)
		}
	})
}

func TestMergeRefusals(t *testing.T) {
	inMerge(t, func(w *world, f *merges, p, c thread.Status) {
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: p.Name}); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("without a worktree: %v", err)
		}
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Into: c.Name}); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("into itself: %v", err)
		}
		w.respond(p.ID, "p9", "call", false)
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); !errors.Is(err, thread.ErrBusy) {
			t.Errorf("into a working thread: %v", err)
		}
		w.respond(p.ID, "p9", "done", true)
		w.respond(c.ID, "p9", "call", false)
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); !errors.Is(err, thread.ErrBusy) {
			t.Errorf("of a working thread: %v", err)
		}
		r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, DryRun: true})
		if err != nil || len(r.Files) != 1 || len(f.log) != 0 {
			t.Errorf("dry run: %+v %v, did %v", r, err, f.log)
		}
	})
}

// TestLateReportsOfWork has agents say that they work after their answers: a word that is taken back
// soon holds nothing up, one that stands does, and so does a request at once.
func TestLateReportsOfWork(t *testing.T) {
	inMerge(t, func(w *world, _ *merges, p, c thread.Status) {
		says := func(id thread.ID, s thread.State) {
			w.sess.of(id).Report(thread.Evidence{Source: thread.SourceHook, State: s, At: time.Now()})
		}
		w.turn(c.ID, "p9")
		for _, id := range []thread.ID{p.ID, c.ID} {
			says(id, thread.StateWorking)
			go func() {
				time.Sleep(time.Second)
				says(id, thread.StateIdle)
			}()
			if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Note: thread.NoteNever}); err != nil {
				t.Errorf("merge after a late word of %s: %v", id, err)
			}
		}
		says(c.ID, thread.StateWorking)
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); !errors.Is(err, thread.ErrBusy) {
			t.Errorf("of one that works without a request: %v", err)
		}
		says(c.ID, thread.StateIdle)
		w.m.Traffic.RequestStarted(c.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
		says(c.ID, thread.StateIdle) // late again
		begin := time.Now()
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name}); !errors.Is(err, thread.ErrBusy) || time.Since(begin) != 0 {
			t.Errorf("with a request on its way: %v after %v", err, time.Since(begin))
		}
		w.respond(c.ID, "p10", "done", true)
	})
}

func TestFinish(t *testing.T) {
	inMerge(t, func(w *world, f *merges, _, c thread.Status) {
		f.kept = "2 files are not committed"
		r, err := w.m.Merges.Finish(ctx, c.Name)
		if err != nil || r.Kept != f.kept || w.status(c.ID).Archived.IsZero() {
			t.Errorf("finish of what is not merged: %+v %v", r, err)
		}
		if _, err := os.Stat(c.Dir); err != nil {
			t.Errorf("the worktree: %v", err)
		}
		f.kept = ""
		r, err = w.m.Merges.Finish(ctx, c.Name)
		if err != nil || !r.Finished || r.Kept != "" {
			t.Errorf("finish: %+v %v", r, err)
		}
		if _, err := os.Stat(c.Dir); err == nil {
			t.Error("the worktree is still there")
		}
		// A finished thread comes back with its files.
		if err := w.m.Lifecycle.Unarchive(ctx, c.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Agents.Start(ctx, c.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		if got := w.trees.get(w.status(c.ID).Dir); got != "files 2" {
			t.Errorf("files %q", got)
		}
	})
}

func TestDiscardSavesTheWorktree(t *testing.T) {
	inMerge(t, func(w *world, _ *merges, p, c thread.Status) {
		w.trees.set(c.Dir, "uncommitted")
		for _, s := range []thread.Status{c, p} {
			if err := w.m.Lifecycle.Delete(ctx, s.Name); err != nil {
				t.Fatal(err)
			}
			if err := w.m.Lifecycle.Discard(ctx, s.ID); err != nil {
				t.Error(err)
			}
		}
		if w.trees.commits["saved-"+string(c.ID)] != "uncommitted" {
			t.Error("uncommitted work was not saved")
		}
	})
}
