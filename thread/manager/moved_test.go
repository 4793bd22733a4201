package manager_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// plant stores a thread as somebody who can write the store would.
func (w *world) plant(id thread.ID, name, dir string, deleted bool) {
	w.t.Helper()
	t := thread.Thread{ID: id, Name: name, Agent: "claude", Dir: dir, Created: time.Now(), Updated: time.Now()}
	if deleted {
		t.Deleted = time.Now()
	}
	if err := w.store.CreateThread(context.Background(), t); err != nil {
		w.t.Fatal(err)
	}
}

// TestIDsOfTheStoreAreNoPaths has a store with ids that lead out of our folder, and threads of which the folder is a
// link: purging them removes nothing of anybody else's.
func TestIDsOfTheStoreAreNoPaths(t *testing.T) {
	ids := []thread.ID{"../../../Doc2", "..", ".", "a/b", "/etc", "-x", "a.b"}
	inWorld(t, func(w *world) {
		ctx := context.Background()
		doc := filepath.Join(w.dir, "Doc2")
		if err := mkdir(doc); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if err := w.m.Lifecycle.Discard(ctx, id); !errors.Is(err, thread.ErrNotFound) {
				t.Errorf("%q is a thread: %v", id, err)
			}
		}
		if list, err := w.m.Threads.List(ctx); err != nil || len(list) != 0 {
			t.Errorf("listed: %v %v", list, err)
		}
		outside := filepath.Join(w.dir, "outside")
		if err := mkdir(filepath.Join(outside, "good")); err != nil {
			t.Fatal(err)
		}
		if err := mkdir(w.cfg.StateDir); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(w.cfg.StateDir, "threads")); err != nil {
			t.Fatal(err)
		}
		if err := w.m.Lifecycle.Discard(ctx, "good"); err != nil {
			t.Error(err)
		}
		for _, dir := range []string{doc, filepath.Join(outside, "good")} {
			if _, err := os.Lstat(dir); err != nil {
				t.Errorf("deleted: %v", err)
			}
		}
	}, func(w *world) {
		for i, id := range ids {
			w.plant(id, fmt.Sprintf("bad-%d", i), w.dir, true)
		}
		w.plant("good", "good-1234", w.dir, true)
	})
}

// TestFollowsMoves opens a project that was moved, with worktrees that were moved too.
func TestFollowsMoves(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		old := filepath.Join(w.dir, "old")
		for id, want := range map[string]string{
			"t1": w.dir, "t2": filepath.Join(w.dir, "sub"), "t3": filepath.Join(w.dir, "trees/fork/sub"), "t4": "/elsewhere",
			"t5": filepath.Join(old, "kept"),
		} {
			s, err := w.m.Threads.Status(ctx, id)
			if err != nil || s.Dir != want {
				t.Errorf("%s is at %s, not %s: %v", id, s.Dir, want, err)
			}
		}
		s, err := w.m.Threads.Status(ctx, "t3")
		if want := (thread.Worktree{Path: filepath.Join(w.dir, "trees/fork"), Branch: "b", Base: "base"}); err != nil || s.Worktree != want {
			t.Errorf("worktree %+v %v", s.Worktree, err)
		}
	}, func(w *world) {
		old := filepath.Join(w.dir, "old")
		w.cfg.Moved = []string{"/never", filepath.Join(w.dir, "../old-root")}
		was := filepath.Clean(w.cfg.Moved[1])
		for _, dir := range []string{filepath.Join(w.dir, "sub"), filepath.Join(w.dir, "trees/fork/sub"), filepath.Join(old, "kept")} {
			if err := mkdir(dir); err != nil {
				t.Fatal(err)
			}
		}
		w.cfg.Moved[1] = was
		w.plant("t1", "one-1111", was, false)
		w.plant("t2", "two-2222", filepath.Join(was, "sub"), false)
		w.plant("t3", "three-3333", filepath.Join(was, "state/fork/sub"), false)
		w.plant("t4", "four-4444", "/elsewhere", false)
		w.plant("t5", "five-5555", filepath.Join(old, "kept"), false)
		_, err := w.store.UpdateThread(context.Background(), "t3", func(t *thread.Thread) error {
			t.Worktree = thread.Worktree{Path: filepath.Join(was, "state/fork"), Branch: "b", Base: "base"}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.trees.init()
		w.trees.made["t3"] = thread.Worktree{Path: filepath.Join(w.dir, "trees/fork"), Branch: "b", Base: "base"}
	})
}

// damagedTrees are worktrees with damaged snapshots.
type damagedTrees struct {
	*worktrees
	ids      []thread.ID
	kept     map[thread.ID]map[string]bool
	repaired map[thread.ID][]string // guarded by worktrees.mu
}

// repairs returns what was repaired so far.
func (m *damagedTrees) repairs() map[thread.ID][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.repaired)
}

func (m *damagedTrees) Damaged(context.Context) ([]thread.ID, error) { return m.ids, nil }

func (m *damagedTrees) Kept(context.Context) (map[thread.ID]map[string]bool, error) {
	return m.kept, nil
}

func (m *damagedTrees) RepairRefs(_ context.Context, id thread.ID, commits []string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repaired[id] = commits
	return "repaired", nil
}

// TestRepairsDamagedRefs: what the store knows of a thread's commits goes to who can keep them again, and a thread
// that the store does not know is left alone.
func TestRepairsDamagedRefs(t *testing.T) {
	var m *damagedTrees
	inWorld(t, func(w *world) {
		id := w.create(thread.NewRequest{Agent: "claude"}).ID
		w.turn(id, "one")
		w.turn(id, "two")
		own, err := w.store.Checkpoints(context.Background(), id, thread.Page{})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, c := range own {
			if c.Snapshot != nil {
				want = append(want, c.Snapshot.Commit)
			}
		}
		keep := func(commits ...string) {
			m.kept = map[thread.ID]map[string]bool{id: {}}
			for _, c := range commits {
				m.kept[id][c] = true
			}
			w.close()
			m.repaired = map[thread.ID][]string{}
			w.open()
		}
		later := func() map[thread.ID][]string {
			time.Sleep(3 * time.Second) // of the bubble's clock
			synctest.Wait()
			return m.repairs()
		}
		m.ids = []thread.ID{id, "stranger"}
		keep(want...)
		if len(want) < 2 || !slices.Equal(m.repairs()[id], want) || len(m.repairs()) != 1 {
			t.Errorf("repaired %v, want %v", m.repairs(), want)
		}
		m.ids = nil
		if keep(want...); len(later()) != 0 {
			t.Errorf("all are kept, and repaired are %v", m.repairs())
		}
		keep()
		if len(m.repairs()) != 0 {
			t.Errorf("the start itself repaired %v", m.repairs())
		}
		if got := later(); !slices.Equal(got[id], want) {
			t.Errorf("none is kept, and repaired are %v", m.repairs())
		}
	}, func(w *world) {
		m = &damagedTrees{worktrees: w.trees, repaired: map[thread.ID][]string{}}
		w.cfg.Worktrees = m
	})
}

// skipping are worktrees whose snapshots leave files out.
type skipping struct {
	*worktrees
	skips []thread.Skip
}

func (s *skipping) Take(ctx context.Context, id thread.ID, dir string, prev *thread.Snapshot) (thread.Snapshot, error) {
	snap, err := s.worktrees.Take(ctx, id, dir, prev)
	snap.Skipped = slices.Clone(s.skips)
	return snap, err
}

// TestNamesSkippedFiles: a person is told which files a snapshot leaves out, once for each.
func TestNamesSkippedFiles(t *testing.T) {
	s := &skipping{}
	inWorld(t, func(w *world) {
		id := w.create(thread.NewRequest{}).ID
		for i := range 8 {
			s.skips = append(s.skips, thread.Skip{Path: fmt.Sprintf("file%d", i), Reason: "larger than 50 MiB"})
		}
		w.turn(id, "one")
		w.turn(id, "two")
		s.skips = append(s.skips, thread.Skip{Path: "vendor/x/", Reason: "another git repository"})
		w.turn(id, "three")
		said := w.events.notices()
		for _, want := range []string{"file0 (larger than 50 MiB), file1 ", "and 3 more", "restored: vendor/x/ (another git repository)"} {
			if strings.Count(said, want) != 1 {
				t.Errorf("%q %d times in:\n%s", want, strings.Count(said, want), said)
			}
		}
	}, func(w *world) {
		s.worktrees = w.trees
		w.cfg.Worktrees = s
	})
}
