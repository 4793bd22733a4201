package witness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/checkpoint/killtest"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/snapshot/snapshottest"
	"orchestrator/checkpoint/witness"
	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/work"
)

func TestMain(m *testing.M) {
	if top := os.Getenv("WITNESS_CHILD"); top != "" {
		failpoint.Arm()
		if err := child(context.Background(), top); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// scene is a repository with a witness.
type scene struct {
	*snapshottest.Repo
	w *witness.Witness
}

// newScene makes a repository with some files of each kind, committed and not.
func newScene(t snapshottest.T, top string, args ...string) *scene {
	t.Helper()
	r := snapshottest.New(t, top, args...)
	r.Write(".gitignore", "*.log\nbuild/\n")
	r.Write("a.txt", "one\n")
	r.Write("dir/b.txt", "two\n")
	r.WriteIn(r.Dir, "run.sh", "#!/bin/sh\n", 0o755)
	r.Link("link", "a.txt")
	r.CommitAll("first")
	r.Write("a.txt", "uncommitted\n")
	r.Write("new.txt", "untracked\n")
	r.Write("x.log", "ignored\n")
	return &scene{r, watch(t, r)}
}

func watch(t snapshottest.T, r *snapshottest.Repo) *witness.Witness {
	w := witness.New(r.Store, r.Store.Finder, filepath.Join(filepath.Dir(r.Dir), "witness.mark"), func(err error) { t.Errorf("%v", err) })
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func (s *scene) join(id work.ID) work.Place {
	s.Helper()
	p, err := s.w.Join(context.Background(), work.Execution{ID: id, Thread: thread.ID("t-" + string(id))}, s.Dir)
	if err != nil {
		s.Fatal(err)
	}
	return p
}

func (s *scene) leave(id work.ID) []string {
	s.Helper()
	left, err := s.w.Leave(context.Background(), id)
	if err != nil {
		s.Fatal(err)
	}
	return left.Changed
}

// nothingLeft checks that no place is left: no folder, no branch, no registration, no ref of the witness.
func (s *scene) nothingLeft() {
	s.Helper()
	if err := s.w.Close(); err != nil {
		s.Errorf("%v", err)
	}
	entries, _ := os.ReadDir(s.Trees())
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "readonly") {
			s.Errorf("%s is left", e.Name())
		}
	}
	for what, out := range map[string]string{"worktrees": s.Git("worktree", "list", "--porcelain"),
		"refs": s.Git("for-each-ref", "--format=%(refname)")} {
		if strings.Contains(out, "readonly") || strings.Contains(out, "witness") {
			s.Errorf("%s: %s", what, out)
		}
	}
}

// TestChanges has an agent change each kind of thing in each way.
func TestChanges(t *testing.T) {
	file := func(name string) func(*testing.T, string) {
		return func(t *testing.T, root string) { put(t, filepath.Join(root, name), "else\n") }
	}
	for name, tc := range map[string]struct {
		do   func(t *testing.T, root string)
		want string // the paths
	}{
		"nothing":   {func(*testing.T, string) {}, ""},
		"read":      {func(t *testing.T, root string) { must(t, exec.Command("cat", filepath.Join(root, "a.txt")).Run()) }, ""},
		"status":    {func(t *testing.T, root string) { must(t, exec.Command("git", "-C", root, "status").Run()) }, ""},
		"content":   {file("a.txt"), "a.txt"},
		"untracked": {file("new.txt"), "new.txt"},
		"new":       {file("other.txt"), "other.txt"},
		"ignored":   {file("y.log"), "y.log"},
		"in folder": {file("build/out"), "build build/out"},
		"same size, old time": {func(t *testing.T, root string) {
			path := filepath.Join(root, "dir/b.txt")
			info, err := os.Lstat(path)
			must(t, err)
			put(t, path, "TWO\n")
			must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		}, "dir/b.txt"},
		"touched": {func(t *testing.T, root string) {
			must(t, os.Chtimes(filepath.Join(root, "a.txt"), time.Now(), time.Now().Add(time.Hour)))
		}, ""},
		"written again": {func(t *testing.T, root string) { put(t, filepath.Join(root, "a.txt"), "uncommitted\n") }, ""},
		"replaced by the same": {func(t *testing.T, root string) {
			info, err := os.Lstat(filepath.Join(root, "a.txt"))
			must(t, err)
			put(t, filepath.Join(root, "tmp"), "uncommitted\n")
			must(t, os.Chmod(filepath.Join(root, "tmp"), info.Mode().Perm()))
			must(t, os.Rename(filepath.Join(root, "tmp"), filepath.Join(root, "a.txt")))
		}, ""},
		"mode":    {func(t *testing.T, root string) { must(t, os.Chmod(filepath.Join(root, "a.txt"), 0o755)) }, "a.txt"},
		"hidden":  {func(t *testing.T, root string) { must(t, os.Chmod(filepath.Join(root, "a.txt"), 0)) }, "a.txt"},
		"removed": {func(t *testing.T, root string) { must(t, os.Remove(filepath.Join(root, "run.sh"))) }, "run.sh"},
		"renamed": {func(t *testing.T, root string) {
			must(t, os.Rename(filepath.Join(root, "run.sh"), filepath.Join(root, "walk.sh")))
		}, "run.sh walk.sh"},
		"link": {func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "link")))
			must(t, os.Symlink("b.txt", filepath.Join(root, "link")))
		}, "link"},
		"through a link": {file("link"), "a.txt"},
		"link for file": {func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "new.txt")))
			must(t, os.Symlink("/etc/hostname", filepath.Join(root, "new.txt")))
		}, "new.txt"},
		"pipe for file": {func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "new.txt")))
			must(t, syscall.Mkfifo(filepath.Join(root, "new.txt"), 0o644))
		}, "new.txt"},
		"folder for file": {func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "new.txt")))
			must(t, os.Mkdir(filepath.Join(root, "new.txt"), 0o755))
		}, "new.txt"},
		"empty folder": {func(t *testing.T, root string) { must(t, os.MkdirAll(filepath.Join(root, "e/f"), 0o755)) }, "e e/f"},
		"folder's mode": {func(t *testing.T, root string) {
			must(t, os.Chmod(filepath.Join(root, "dir"), 0o777))
		}, "dir"},
		"git file": {file(".git"), ".git"},
		"own repository": {func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, ".git")))
			put(t, filepath.Join(root, ".git/HEAD"), "ref: refs/heads/main\n")
		}, ".git .git/HEAD"},
		"committed":  {commit, "a.txt"},
		"all of it":  {func(t *testing.T, root string) { must(t, os.RemoveAll(root)) }, "."},
		"our folder": {file(".orchestrator/x"), ".orchestrator .orchestrator/x"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, t.TempDir())
			p := s.join("x")
			tc.do(t, p.Root)
			if got := strings.Join(s.leave("x"), " "); got != tc.want {
				t.Errorf("changed %q, want %q", got, tc.want)
			}
			s.nothingLeft()
			if got := s.Files(s.Dir)["a.txt"]; got != "uncommitted\n" {
				t.Errorf("the person's file: %q", got)
			}
		})
	}
}

func commit(t *testing.T, root string) {
	put(t, filepath.Join(root, "a.txt"), "mine\n")
	must(t, exec.Command("git", "-C", root, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qam", "x").Run())
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestFiles: the place has the files as they are, uncommitted and untracked ones too, and git works in it.
func TestFiles(t *testing.T) {
	s := newScene(t, t.TempDir())
	p := s.join("x")
	want := s.Files(s.Dir)
	delete(want, "x.log") // ignored
	s.Same("the place", s.Files(p.Root), want)
	if p.Dir != p.Root || filepath.Base(p.Root) != "readonly-1" || p.Snapshot.Commit == "" {
		t.Errorf("%+v", p)
	}
	if out, err := exec.Command("git", "-C", p.Root, "status", "--porcelain").Output(); err != nil || string(out) != " M a.txt\n?? new.txt\n" {
		t.Errorf("%q: %v", out, err)
	}
	if changed := s.leave("x"); len(changed) > 0 {
		t.Errorf("%q", changed)
	}
	s.nothingLeft()
	s.join("y") // the same path as before
	s.leave("y")
}

// TestShared: runs of the same files share a place; others get another one; a change concerns those that were in it
// meanwhile, and nobody joins what was changed.
func TestShared(t *testing.T) {
	s := newScene(t, t.TempDir())
	a, b := s.join("a"), s.join("b")
	if a.Root != b.Root {
		t.Errorf("%s and %s", a.Root, b.Root)
	}
	s.Write("a.txt", "newer\n")
	c := s.join("c")
	if c.Root == a.Root || s.Files(c.Root)["a.txt"] != "newer\n" || s.Files(a.Root)["a.txt"] != "uncommitted\n" {
		t.Errorf("other files: %+v", c)
	}
	s.Write("a.txt", "uncommitted\n")
	if changed := s.leave("b"); len(changed) > 0 { // before the change
		t.Errorf("b: %q", changed)
	}
	put(t, filepath.Join(a.Root, "evil"), "x")
	d := s.join("d") // meanwhile
	if d.Root == a.Root || s.Files(d.Root)["evil"] != "" {
		t.Errorf("d joined what was changed: %+v", d)
	}
	put(t, filepath.Join(a.Root, "evil"), "y")
	if changed := s.leave("a"); !slices.Equal(changed, []string{"evil"}) {
		t.Errorf("a: %q", changed)
	}
	for _, id := range []work.ID{"c", "d"} {
		if changed := s.leave(id); len(changed) > 0 {
			t.Errorf("%s: %q", id, changed)
		}
	}
	s.nothingLeft()
}

// TestConcerned: a change concerns each run that was in the place, also if it was undone before the others left.
func TestConcerned(t *testing.T) {
	s := newScene(t, t.TempDir())
	root := s.join("a").Root
	s.join("b")
	put(t, filepath.Join(root, "a.txt"), "evil\n")
	if changed := s.leave("a"); !slices.Equal(changed, []string{"a.txt"}) {
		t.Errorf("a: %q", changed)
	}
	put(t, filepath.Join(root, "a.txt"), "uncommitted\n")
	left, err := s.w.Leave(t.Context(), "b")
	if err != nil || !slices.Equal(left.Changed, []string{"a.txt"}) {
		t.Errorf("b: %q: %v", left.Changed, err)
	}
	s.nothingLeft()
}

// TestSaved: what was changed is kept for the run's thread.
func TestSaved(t *testing.T) {
	s := newScene(t, t.TempDir())
	root := s.join("a").Root
	put(t, filepath.Join(root, "report.md"), "what I found\n")
	left, err := s.w.Leave(t.Context(), "a")
	if err != nil || s.Held(left.Saved)["report.md"] != "what I found\n" {
		t.Errorf("%+v: %v", left, err)
	}
	s.nothingLeft()
}

func TestMany(t *testing.T) {
	s := newScene(t, t.TempDir())
	root := s.join("a").Root
	for i := range 1100 {
		put(t, filepath.Join(root, fmt.Sprintf("f%04d", i)), "x")
	}
	left, err := s.w.Leave(t.Context(), "a")
	if err != nil || len(left.Changed) != 1000 || left.More != 100 || left.Changed[0] != "f0000" {
		t.Errorf("%d and %d: %v", len(left.Changed), left.More, err)
	}
}

// TestFolders: a run works in the same folder of the place as in the worktree, also in one that no snapshot has.
func TestFolders(t *testing.T) {
	s := newScene(t, t.TempDir())
	must(t, os.MkdirAll(filepath.Join(s.Dir, "build/deep"), 0o755))
	for _, below := range []string{"dir", "build/deep"} {
		p, err := s.w.Join(t.Context(), work.Execution{ID: work.ID(below), Thread: "t"}, filepath.Join(s.Dir, below))
		must(t, err)
		if p.Dir != filepath.Join(p.Root, below) {
			t.Errorf("%+v", p)
		}
		if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", below, err)
		}
	}
	for _, id := range []work.ID{"dir", "build/deep"} {
		if changed := s.leave(id); len(changed) > 0 {
			t.Errorf("%s: %q", id, changed)
		}
	}
	s.nothingLeft()
}

func TestRefused(t *testing.T) {
	s := newScene(t, t.TempDir())
	ctx := t.Context()
	s.join("a")
	if _, err := s.w.Join(ctx, work.Execution{ID: "a", Thread: "t"}, s.Dir); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("twice: %v", err)
	}
	if _, err := s.w.Join(ctx, work.Execution{ID: "b", Thread: "t"}, t.TempDir()); !errors.Is(err, thread.ErrNoRepository) {
		t.Errorf("no repository: %v", err)
	}
	if _, err := s.w.Join(ctx, work.Execution{ID: "b", Thread: "t"}, filepath.Join(s.Dir, "none")); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := s.w.Leave(ctx, "b"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("never joined: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.w.Join(ended, work.Execution{ID: "b", Thread: "t"}, s.Dir); err == nil {
		t.Error("joined after the end")
	}
	// A folder and a branch of the person's are left alone.
	must(t, os.MkdirAll(filepath.Join(s.Trees(), "readonly-2"), 0o755))
	s.Git("branch", "orchestrator/readonly-3")
	s.CommitAll("more")
	if p := s.join("c"); filepath.Base(p.Root) != "readonly-4" {
		t.Errorf("%+v", p)
	}
	s.leave("a")
	s.leave("c")
	if _, err := os.Stat(filepath.Join(s.Trees(), "readonly-2")); err != nil {
		t.Error(err)
	}
}

func TestSHA256(t *testing.T) {
	s := newScene(t, t.TempDir(), "--object-format=sha256")
	root := s.join("a").Root
	put(t, filepath.Join(root, "dir/b.txt"), "two\n") // the same again
	put(t, filepath.Join(root, "run.sh"), "#!/bin/SH\n")
	if changed := s.leave("a"); !slices.Equal(changed, []string{"run.sh"}) {
		t.Errorf("%q", changed)
	}
	s.nothingLeft()
}

// TestAtOnce has many join and leave at once: nobody is told of a change, and nothing is left.
func TestAtOnce(t *testing.T) {
	s := newScene(t, t.TempDir())
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for n := range 6 {
		wg.Go(func() {
			for i := range 3 {
				id := work.ID(fmt.Sprintf("%d-%d", n, i))
				p, err := s.w.Join(t.Context(), work.Execution{ID: id, Thread: "t" + thread.ID(id)}, s.Dir)
				if err == nil {
					_, err = os.ReadFile(filepath.Join(p.Dir, "a.txt"))
				}
				errs <- err
				left, err := s.w.Leave(t.Context(), id)
				if len(left.Changed) > 0 {
					err = fmt.Errorf("%s: %q", id, left.Changed)
				}
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		must(t, err)
	}
	s.nothingLeft()
}

// child joins and leaves until it is killed.
func child(ctx context.Context, top string) error {
	store, err := snapshottest.OpenStore(where(top), snapshot.Config{})
	if err != nil {
		return err
	}
	w := witness.New(store, store.Finder, filepath.Join(top, "witness.mark"), nil)
	for i := range 3 {
		id := work.ID(fmt.Sprint("x", i))
		p, err := w.Join(ctx, work.Execution{ID: id, Thread: "t1"}, filepath.Join(top, "project"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(p.Root, "evil"), []byte("x"), 0o600); err != nil {
			return err
		}
		if _, err := w.Leave(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// TestKilled kills at each gap: the next start removes what is left.
func TestKilled(t *testing.T) {
	for range killtest.Rounds(t, 1) {
		for _, place := range []string{"witness.join.added", "snapshot.add.begun", "snapshot.add.registered", "snapshot.add.filled",
			"witness.leave.compared", "snapshot.remove.begun", "snapshot.remove.moved", "witness.leave.removed"} {
			s := newScene(t, t.TempDir())
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(append(os.Environ(), s.Env...), "WITNESS_CHILD="+s.Top, "ORCHESTRATOR_FAILPOINT="+place)
			out, err := cmd.CombinedOutput()
			if err == nil || len(out) > 0 {
				t.Fatalf("%s: %v: %s", place, err, out)
			}
			if _, err := s.Store.Keeper.Repair(t.Context()); err != nil { // as every start does first
				t.Fatal(err)
			}
			if _, err := s.w.Repair(t.Context()); err != nil {
				t.Fatalf("%s: %v", place, err)
			}
			s.nothingLeft()
			if n, err := s.w.Repair(t.Context()); err != nil || n != 0 {
				t.Fatalf("%s: %d: %v", place, n, err)
			}
		}
	}
}

func where(top string) worktree.Config {
	return worktree.Config{Dir: filepath.Join(top, "project"), State: filepath.Join(top, "state"),
		Worktrees: filepath.Join(top, "trees")}
}

// TestFigures prints what a place costs beside git: joining the first and the second time, and leaving. FILES says how
// many files there are.
func TestFigures(t *testing.T) {
	n := 400
	if _, err := fmt.Sscan(os.Getenv("FILES"), &n); err != nil {
		n = 400
	}
	r := snapshottest.New(t, t.TempDir())
	r.Fill(n)
	s := &scene{r, watch(t, r)}
	s.Take(nil)
	took := map[string][]time.Duration{}
	timed := func(name string, do func()) {
		begin := time.Now()
		do()
		took[name] = append(took[name], time.Since(begin))
	}
	for i := range 7 {
		plain := filepath.Join(s.Top, "plain")
		timed("git worktree add", func() { s.Git("worktree", "add", "-q", "--detach", plain) })
		timed("git status", func() { s.GitIn(plain, "status", "--porcelain", "--ignored") })
		timed("git worktree remove", func() { s.Git("worktree", "remove", "--force", plain) })
		a, b := work.ID(fmt.Sprint("a", i)), work.ID(fmt.Sprint("b", i))
		timed("first joins", func() { s.join(a) })
		timed("second joins", func() { s.join(b) })
		time.Sleep(150 * time.Millisecond) // as long as a run is at least
		timed("one leaves", func() { s.leave(a) })
		timed("last leaves", func() { s.leave(b) })
		timed("removed", func() { _ = s.w.Close() })
	}
	for _, name := range []string{"git worktree add", "git status", "git worktree remove", "first joins", "second joins", "one leaves", "last leaves", "removed"} {
		slices.Sort(took[name])
		t.Logf("%d files, %s: p50 %v", n, name, took[name][len(took[name])/2])
	}
}
