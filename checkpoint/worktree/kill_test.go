package worktree_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/checkpoint/killtest"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/snapshot/snapshottest"
	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/ground/sample"
)

// job is what a child process is to do until it is killed.
type job struct {
	Op    string
	Where worktree.Config
	At    thread.Snapshot
	Fork  thread.Worktree
}

// child does a job that a test of another process gave us.
func child(given string) {
	failpoint.Arm()
	var j job
	if err := json.Unmarshal([]byte(given), &j); err != nil {
		panic(err)
	}
	s, err := snapshottest.OpenStore(j.Where, snapshot.Config{})
	if err != nil {
		panic(err)
	}
	if err := j.run(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (j job) run(s *snapshottest.Store) error {
	ctx := context.Background()
	var err error
	switch j.Op {
	case "take":
		_, err = s.Take(ctx, "t1", j.Where.Dir, nil)
	case "restore":
		_, err = s.Restore(ctx, "t1", j.Where.Dir, j.At)
	case "add":
		_, err = s.Add(ctx, "t3", j.Where.Dir, "second", j.At)
	case "remove":
		_, err = s.Remove(ctx, "t2", j.Fork)
	case "repair":
		_, err = s.Repair(ctx)
	}
	return err
}

// scene is a repository in which every operation has something to do and something to lose.
type scene struct {
	*repo
	job
	parent, fork, target map[string]string
	visible              string
}

func newScene(t *testing.T, op string, round int) *scene {
	r := isolate(t)
	r.Write("keep", "k\n")
	r.Write("mod", "1\n")
	r.Write("gone", "g\n")
	r.Write("dir/x", "x\n")
	r.Write(".gitignore", ".env\n")
	r.CommitAll("first")
	r.Write("mod", fmt.Sprintf("uncommitted %d\n", round))
	r.Write("new/a", "untracked a\n")
	r.Write("new/b", "untracked b\n")
	at := r.Take(nil)
	sc := &scene{repo: r, target: r.Files(r.Dir)}
	fork := r.Add("first", at)
	r.WriteIn(fork.Path, "mod", fmt.Sprintf("fork's work %d\n", round), 0o644)
	r.WriteIn(fork.Path, "fresh/file", "fork's untracked\n", 0o644)
	r.WriteIn(fork.Path, ".env", "fork's secret\n", 0o600)
	r.Write("mod", fmt.Sprintf("later %d\n", round))
	r.Remove("new")
	r.Write("new", "a file now\n")
	r.Remove("dir")
	r.Link("dir", "keep")
	r.Write("other", "o\n")
	r.Write(".env", "secret\n")
	sc.parent, sc.fork, sc.visible = r.Files(r.Dir), r.Files(fork.Path), r.Visible()
	sc.target[".env"] = "secret\n"
	sc.job = job{Op: op, Where: r.Where(), At: at, Fork: fork}
	return sc
}

// start begins the job in a process of its own.
func (sc *scene) start(t *testing.T, op string, env ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	j := sc.job
	j.Op = op
	b, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "SNAPSHOT_JOB="+string(b)), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &said
}

// run runs the job to its end and reports whether it was killed.
func (sc *scene) runJob(t *testing.T, op string, env ...string) (killed bool) {
	t.Helper()
	cmd, said := sc.start(t, op, env...)
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL {
			return true
		}
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", op, err, said.String())
	}
	return false
}

// passes runs a job to its end and returns how often it passes each place.
func (sc *scene) passes(t *testing.T, op string) map[string]int {
	t.Helper()
	trace := filepath.Join(sc.Top, "trace")
	if sc.runJob(t, op, "ORCHESTRATOR_FAILPOINT_TRACE="+trace) {
		t.Fatal("killed without a failpoint")
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for name := range strings.FieldsSeq(string(b)) {
		count[name]++
	}
	return count
}

// points returns the places that an operation passes, each with how often.
func points(t *testing.T, op string) []string {
	t.Helper()
	count := newScene(t, op, 0).passes(t, op)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		all = append(all, name)
		for n := 2; n <= min(count[name], 4); n++ {
			all = append(all, fmt.Sprintf("%s:%d", name, n))
		}
	}
	return all
}

// TestKilled ends the process at every place of every operation, in the repair that follows too, and looks whether
// the next start sets everything right and nothing is lost.
func TestKilled(t *testing.T) {
	n := killtest.Rounds(t, 1)
	for _, op := range []string{"take", "restore", "add", "remove"} {
		t.Run(op, func(t *testing.T) {
			for _, point := range sample.Of(t, 8, points(t, op)) {
				t.Run(point, func(t *testing.T) {
					t.Parallel()
					for round := range n {
						sc := newScene(t, op, round)
						if !sc.runJob(t, op, "ORCHESTRATOR_FAILPOINT="+point) {
							t.Fatalf("round %d was not killed", round)
						}
						sc.setRight(t)
					}
				})
			}
		})
	}
}

// TestKilledInRepair kills the repair of a killed operation.
func TestKilledInRepair(t *testing.T) {
	n := killtest.Rounds(t, 1)
	for op, points := range map[string][]string{
		"restore": {"snapshot.restore.removed", "snapshot.restore.wrote:2"},
		"add":     {"snapshot.add.referenced", "snapshot.add.checkedout"},
		"remove":  {"snapshot.remove.begun", "snapshot.remove.moved"},
	} {
		for _, first := range points {
			sc := newScene(t, op, 0)
			sc.runJob(t, op, "ORCHESTRATOR_FAILPOINT="+first)
			passed := sc.passes(t, "repair")
			places := slices.DeleteFunc([]string{
				"snapshot.restore.saved", "snapshot.restore.begun", "snapshot.restore.wrote", "snapshot.restore.written",
				"snapshot.take.tree", "snapshot.remove.saved", "snapshot.remove.begun", "snapshot.remove.moved",
				"snapshot.remove.struck", "snapshot.remove.swept",
			}, func(place string) bool { return passed[place] == 0 })
			for _, then := range sample.Of(t, 8, places) {
				t.Run(op+"/"+first+"/"+then, func(t *testing.T) {
					t.Parallel()
					for round := range n {
						sc := newScene(t, op, round)
						sc.runJob(t, op, "ORCHESTRATOR_FAILPOINT="+first)
						if !sc.runJob(t, "repair", "ORCHESTRATOR_FAILPOINT="+then) {
							t.Fatalf("round %d: the repair was not killed", round)
						}
						sc.setRight(t)
					}
				})
			}
		}
	}
}

// TestKilledAnywhere kills the process and the git that it runs at moments that the clock picks.
func TestKilledAnywhere(t *testing.T) {
	n := killtest.Rounds(t, 1)
	if os.Getenv("KILL_ROUNDS") != "" {
		n *= 5
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, op := range []string{"take", "restore", "add", "remove"} {
		t.Run(op, func(t *testing.T) {
			for round := range n {
				sc := newScene(t, op, round)
				cmd, _ := sc.start(t, op)
				time.Sleep(time.Duration(rng.IntN(120)) * time.Millisecond) // any moment is right
				killtest.Tree(cmd.Process.Pid)
				_ = cmd.Wait()
				sc.setRight(t)
			}
		})
	}
}

// setRight is the next start. Everything that was there must be there, or be kept by a ref.
func (sc *scene) setRight(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	sc.Store = sc.Open(0)
	said, err := sc.Store.Repair(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range said {
		if strings.HasPrefix(s, "cannot") {
			t.Error(s)
		}
	}
	if said, err := sc.Store.Repair(ctx); err != nil || len(said) > 0 {
		t.Errorf("still to repair: %q %v", said, err)
	}
	safe := sc.Reachable()
	sc.kept(t, safe, sc.parent)
	sc.kept(t, safe, sc.fork)
	sc.wholeParent(t)
	sc.wholeFork(t)
	sc.wholeSecond(t)
	sc.Git("fsck", "--connectivity-only", "--no-dangling")
	sc.Same("the next snapshot", sc.Held(sc.Take(nil)), without(sc.Files(sc.Dir), ".env"))
}

func without(files map[string]string, name string) map[string]string {
	files = maps.Clone(files)
	delete(files, name)
	return files
}

// wholeParent: the project's files are as they were, or all as the restore was to make them.
func (sc *scene) wholeParent(t *testing.T) {
	t.Helper()
	got := sc.Files(sc.Dir)
	if sc.Op == "restore" && maps.Equal(got, sc.target) {
		return
	}
	sc.Same("the project's files", got, sc.parent)
	if sc.Op == "take" || sc.Op == "restore" {
		if now := sc.visible; now != sc.repo.Visible() {
			t.Errorf("branches, index or reflog changed")
		}
	}
}

// wholeFork: the first fork is there with all it had, or gone.
func (sc *scene) wholeFork(t *testing.T) {
	t.Helper()
	_, err := os.Lstat(sc.Fork.Path)
	all, merr := sc.Store.Finder.Made(context.Background())
	made, known := all["t2"]
	if merr != nil {
		t.Fatal(merr)
	}
	switch {
	case err == nil && known && made == sc.Fork:
		sc.Same("the fork's files", sc.Files(sc.Fork.Path), sc.fork)
	case os.IsNotExist(err) && !known && sc.Op == "remove":
		if list := sc.Git("worktree", "list"); strings.Contains(list, "first") {
			t.Errorf("half removed: %s", list)
		}
		trash, _ := filepath.Glob(filepath.Join(sc.Top, "trees/.trash/*/.env"))
		if len(trash) != 1 {
			t.Errorf("the ignored file is lost")
		}
	default:
		t.Errorf("the fork is half there: %v, known: %v %+v", err, known, made)
	}
}

// wholeSecond: the fork that was being made is there whole, or there is no trace of it.
func (sc *scene) wholeSecond(t *testing.T) {
	t.Helper()
	all, err := sc.Store.Finder.Made(context.Background())
	made, known := all["t3"]
	if err != nil {
		t.Fatal(err)
	}
	if known {
		sc.Same("the new fork's files", sc.Files(made.Path), without(sc.target, ".env"))
		return
	}
	if _, err := os.Lstat(filepath.Join(sc.Top, "trees/second")); !os.IsNotExist(err) {
		t.Errorf("a half-made fork is left: %v", err)
	}
	if left := sc.Git("for-each-ref", "refs/heads/orchestrator/second", "refs/orchestrator/t3") +
		sc.Git("worktree", "list", "--porcelain"); strings.Contains(left, "/second") || strings.Contains(left, "/t3/") {
		t.Errorf("left of a half-made fork: %s", left)
	}
	if sc.Op == "add" {
		wt, err := sc.Store.Add(context.Background(), "t3", sc.Dir, "second", sc.At)
		if err != nil {
			t.Fatal(err)
		}
		sc.Same("the fork made again", sc.Files(wt.Path), without(sc.target, ".env"))
	}
}

// kept makes sure that every file that is not ignored lies in its place or in a snapshot.
func (sc *scene) kept(t *testing.T, safe map[string]bool, files map[string]string) {
	t.Helper()
	for name, body := range files {
		if name == ".env" || safe[name+"\x00"+body] {
			continue
		}
		if sc.Files(sc.Dir)[name] == body {
			continue
		}
		if _, err := os.Lstat(sc.Fork.Path); err == nil && sc.Files(sc.Fork.Path)[name] == body {
			continue
		}
		t.Errorf("%s with %q is lost", name, body)
	}
}
