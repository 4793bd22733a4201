package manager_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
	"orchestrator/thread/manager"
)

// gitEnv is the environment of git in tests: nobody's configuration, a fixed identity.
var gitEnv = []string{
	"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull,
	"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.invalid", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.invalid",
}

// real is a Manager over SQLite and git, with fake agents.
type real struct {
	t       testing.TB
	m       *manager.Manager
	store   *sqlite.Store
	sess    *sessions
	natives *natives
	dir     string
}

func newReal(t testing.TB) *real {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed; install it and run: go test ./thread/")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &real{t: t, dir: filepath.Join(root, "project"), sess: &sessions{}, natives: &natives{files: map[string][]byte{}}}
	state := filepath.Join(root, "state")
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.git(r.dir, "init", "-q", "-b", "main")
	r.write(r.dir, "a.txt", "one\n")
	r.git(r.dir, "add", ".")
	r.git(r.dir, "commit", "-q", "-m", "first")
	store, err := sqlite.Open(ctx, filepath.Join(state, "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	found, err := worktree.NewFinder(worktree.Config{
		Dir: r.dir, State: filepath.Join(state, "snapshots"), Worktrees: filepath.Join(state, "worktrees"), Env: gitEnv,
	})
	if err != nil {
		t.Fatal(err)
	}
	snapshots := snapshot.New(found, snapshot.Config{})
	trees := struct {
		*snapshot.Store
		*worktree.Keeper
	}{snapshots, worktree.NewKeeper(found, snapshots)}
	merger, err := branch.New(branch.Config{State: t.TempDir(), Env: gitEnv})
	if err != nil {
		t.Fatal(err)
	}
	r.store = store
	r.m = manager.New(manager.Config{
		Project: r.dir, StateDir: state, Store: store, Sessions: r.sess, Worktrees: trees, Differ: trees, Merges: merger, Reader: reader{},
		Agents: agents{"claude": &fullAgent{plainAgent{"claude"}, r.natives}, "codex": &fullAgent{plainAgent{"codex"}, r.natives}},
	})
	if err := r.m.Open(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.m.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

func (r *real) git(dir string, args ...string) string {
	r.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, append(os.Environ(), gitEnv...)
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *real) write(dir, name, text string) {
	r.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *real) read(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return string(b)
}

func (r *real) status(id thread.ID) thread.Status {
	r.t.Helper()
	list, err := r.m.Threads.List(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, s := range list {
		if s.ID == id {
			return s
		}
	}
	r.t.Fatalf("no thread %s", id)
	return thread.Status{}
}

// turn lets an agent answer a prompt and waits for the turn's checkpoint.
func (r *real) turn(id thread.ID, prompt string) {
	r.t.Helper()
	s := r.status(id)
	answer := item("assistant", "answer to "+prompt)
	items := append(r.natives.conversation(s.Session), item("user", prompt))
	r.natives.append(s.Session, []thread.Item{items[len(items)-1], answer})
	r.m.Traffic.ExchangeEnded(id, thread.Exchange{Main: true, Status: 200, Items: items, Answer: &answer, Prompt: prompt, Text: "answer to " + prompt,
		EndsTurn: true, Ended: time.Now()})
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if list, err := r.store.Checkpoints(ctx, id, thread.Page{Turns: true, Limit: 1}); err == nil && len(list) > 0 && list[0].Prompt == prompt {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("turn %q was not stored", prompt)
		}
	}
}

func TestRealForkRewindMergeFinish(t *testing.T) {
	r := newReal(t)
	p, err := r.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Name: "parent", Worktree: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 4; i++ {
		r.write(p.Dir, "b.txt", fmt.Sprintf("turn %d\n", i))
		r.turn(p.ID, fmt.Sprintf("p%d", i))
	}
	f, err := r.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, At: "2", Label: "two"})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.read(f.Dir, "b.txt"); got != "turn 2\n" {
		t.Errorf("the fork's file holds %q", got)
	}
	r.write(f.Dir, "c.txt", "of the fork\n")
	r.turn(f.ID, "q3")
	diff, err := r.m.History.Diff(ctx, thread.DiffRequest{Thread: f.Name, From: "2", To: "now"})
	if err != nil || len(diff) != 1 || diff[0].Path != "c.txt" || diff[0].Status != "added" {
		t.Errorf("diff %+v %v", diff, err)
	}
	w, err := r.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: "2", Files: true, Conversation: true})
	if err != nil || r.read(p.Dir, "b.txt") != "turn 2\n" || len(w.Files) != 1 {
		t.Fatalf("rewind %+v %v: %q", w, err, r.read(p.Dir, "b.txt"))
	}
	report, err := r.m.Merges.Start(ctx, thread.MergeRequest{Thread: f.Name, Finish: true})
	if err != nil || len(report.Conflicts) > 0 || !report.Finished || report.Kept != "" {
		t.Fatalf("merge %+v %v", report, err)
	}
	if got := r.read(p.Dir, "c.txt"); got != "of the fork\n" {
		t.Errorf("the parent holds %q", got)
	}
	if _, err := os.Stat(f.Dir); !os.IsNotExist(err) {
		t.Errorf("the fork's worktree: %v", err)
	}
	if got := r.git(r.dir, "status", "--porcelain"); got != "" {
		t.Errorf("the project's own folder was touched: %s", got)
	}
	// Undo of the rewind brings the files of turn 4 back; what was merged since is in the branch.
	if _, err := r.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: string(w.Safety), Files: true, Conversation: true}); err != nil {
		t.Fatal(err)
	}
	if got := r.read(p.Dir, "b.txt"); got != "turn 4\n" {
		t.Errorf("undone to %q", got)
	}
	// A finished thread comes back with what it held.
	if err := r.m.Lifecycle.Unarchive(ctx, f.Name); err != nil {
		t.Fatal(err)
	}
	s, err := r.m.Agents.Start(ctx, f.Name, 0, 0)
	if err != nil || r.read(s.Dir, "c.txt") != "of the fork\n" {
		t.Errorf("brought back: %v, %q", err, r.read(s.Dir, "c.txt"))
	}
}

func TestRealConflict(t *testing.T) {
	r := newReal(t)
	p, err := r.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Name: "parent", Worktree: true})
	if err != nil {
		t.Fatal(err)
	}
	r.turn(p.ID, "p1")
	f, err := r.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "two"})
	if err != nil {
		t.Fatal(err)
	}
	r.write(f.Dir, "a.txt", "fork\n")
	r.turn(f.ID, "q2")
	r.write(p.Dir, "a.txt", "parent\n")
	r.turn(p.ID, "p2")
	report, err := r.m.Merges.Start(ctx, thread.MergeRequest{Thread: f.Name})
	if err != nil || len(report.Conflicts) != 1 || report.Conflicts[0] != "a.txt" || report.Dir != p.Dir {
		t.Fatalf("merge %+v %v", report, err)
	}
	if _, err := r.m.Merges.Continue(ctx, f.Name); !errors.Is(err, thread.ErrConflict) {
		t.Errorf("continue too early: %v", err)
	}
	if err := r.m.Merges.Abort(ctx, f.Name); err != nil || r.read(p.Dir, "a.txt") != "parent\n" {
		t.Fatalf("abort: %v, %q", err, r.read(p.Dir, "a.txt"))
	}
	if report, err = r.m.Merges.Start(ctx, thread.MergeRequest{Thread: f.Name}); err != nil || len(report.Conflicts) != 1 {
		t.Fatalf("merge again %+v %v", report, err)
	}
	r.write(p.Dir, "a.txt", "both\n")
	report, err = r.m.Merges.Continue(ctx, f.Name)
	if err != nil || report.Commit == "" {
		t.Fatalf("continue %+v %v", report, err)
	}
	if got := r.git(p.Dir, "show", "HEAD:a.txt"); got != "both" {
		t.Errorf("merged to %q", got)
	}
}

// TestRealOtherBranch: an agent commits its work on a branch of its own, or on none.
func TestRealOtherBranch(t *testing.T) {
	r := newReal(t)
	p, err := r.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Name: "parent", Worktree: true})
	if err != nil {
		t.Fatal(err)
	}
	r.turn(p.ID, "p1")
	f, err := r.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "two"})
	if err != nil {
		t.Fatal(err)
	}
	r.git(f.Dir, "switch", "-q", "--detach")
	r.write(f.Dir, "b.txt", "fork\n")
	r.git(f.Dir, "add", ".")
	r.git(f.Dir, "commit", "-q", "-m", "the agent's")
	for name, call := range map[string]func() error{
		"merge": func() error { _, err := r.m.Merges.Start(ctx, thread.MergeRequest{Thread: f.Name}); return err },
		"preview": func() error {
			_, err := r.m.Merges.Start(ctx, thread.MergeRequest{Thread: f.Name, DryRun: true})
			return err
		},
		"push": func() error { _, err := r.m.Merges.Push(ctx, thread.PushRequest{Thread: f.Name}); return err },
	} {
		if err := call(); !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "is on no branch") {
			t.Errorf("%s of a detached worktree: %v", name, err)
		}
	}
	if s := r.status(f.ID); s.Outcome.Kind != "" {
		t.Errorf("its outcome is %+v", s.Outcome)
	}
	r.git(f.Dir, "switch", "-q", "-c", "own")
	report, err := r.m.Merges.Start(ctx, thread.MergeRequest{Thread: f.Name, Finish: true})
	if err != nil || report.Branch != "own" || report.UpToDate || !report.Finished || report.Kept != "" {
		t.Errorf("merge: %+v %v", report, err)
	}
	if r.read(p.Dir, "b.txt") != "fork\n" {
		t.Error("its work is not in the parent's folder")
	}
	g, err := r.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "three"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.m.Agents.Stop(ctx, p.Name); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(p.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.m.Merges.Start(ctx, thread.MergeRequest{Thread: g.Name}); !errors.Is(err, thread.ErrNotFound) || !strings.Contains(err.Error(), "Resume "+p.Name) {
		t.Errorf("into a folder that is gone: %v", err)
	}
}

func TestRealMissingWorktree(t *testing.T) {
	r := newReal(t)
	p, err := r.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Name: "parent", Worktree: true})
	if err != nil {
		t.Fatal(err)
	}
	r.write(p.Dir, "new.txt", "uncommitted\n")
	r.turn(p.ID, "p1")
	if err := r.m.Agents.Stop(ctx, p.Name); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(p.Dir); err != nil {
		t.Fatal(err)
	}
	s, err := r.m.Agents.Start(ctx, p.Name, 0, 0)
	if err != nil || r.read(s.Dir, "new.txt") != "uncommitted\n" {
		t.Errorf("resumed in %s: %v", s.Dir, err)
	}
}

// BenchmarkFork forks a thread of 500 turns without worktree and start. The gate is 10 ms and 1 KB;
// a bare durable row of the same store stands beside it.
func BenchmarkFork(b *testing.B) {
	store, m := benched(b, 500)
	list, err := m.Threads.List(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bare-row", func(b *testing.B) {
		for b.Loop() {
			if err := store.SetSetting(ctx, "bench", string(thread.NewID[thread.ID]())); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fork", func(b *testing.B) {
		for b.Loop() {
			_, err := m.Forks.Fork(ctx, thread.ForkRequest{Thread: list[0].Name, At: "250", Label: "a label of usual length", NoStart: true, NoWorktree: true})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkForkWorktree forks a thread with its files, all but the agent's start, beside `git worktree add` on
// the same repository, by turns, and reports the ratio of the medians. The gate is 1.1:
// go test ./thread -run '^$' -bench ForkWorktree -benchtime 40x
func BenchmarkForkWorktree(b *testing.B) {
	for _, files := range []int{200, 2000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) { benchForkWorktree(b, files) })
	}
}

func benchForkWorktree(b *testing.B, files int) {
	r := newReal(b)
	for i := range files {
		r.write(r.dir, fmt.Sprintf("src/pkg%03d/file%04d.go", i/20, i), strings.Repeat(fmt.Sprintf("line of file %d, of a usual length\n", i), 100))
	}
	r.git(r.dir, "add", ".")
	r.git(r.dir, "commit", "-q", "-m", "files")
	p, err := r.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Name: "parent"})
	if err != nil {
		b.Fatal(err)
	}
	r.turn(p.ID, "p1")
	var ours, theirs []time.Duration
	for n := 0; b.Loop(); n++ {
		path := filepath.Join(filepath.Dir(r.dir), fmt.Sprint("plain", n))
		start := time.Now()
		r.git(r.dir, "worktree", "add", "-q", "-b", fmt.Sprint("plain", n), path, "HEAD")
		theirs = append(theirs, time.Since(start))
		start = time.Now()
		f, err := r.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "a label of usual length", NoStart: true})
		ours = append(ours, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
		_ = os.RemoveAll(path)
		_ = os.RemoveAll(f.Dir)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	fork, add := ours[len(ours)/2].Seconds()*1000, theirs[len(theirs)/2].Seconds()*1000
	b.ReportMetric(fork, "ms/fork")
	b.ReportMetric(add, "ms/git-worktree-add")
	b.ReportMetric(fork/add, "ratio")
}

// BenchmarkTimeline reads the newest page of a thread of 5,000 turns. The gate is 100 ms.
func BenchmarkTimeline(b *testing.B) {
	_, m := benched(b, 5000)
	list, err := m.Threads.List(ctx)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if page, err := m.History.Timeline(ctx, list[0].Name, thread.Page{Turns: true, Limit: 100}); err != nil || len(page) != 100 {
			b.Fatal(len(page), err)
		}
	}
}

// BenchmarkAnswer records an answer of a thread that is short or long, to the end of its turn, but for the
// first one after a start. The gate is that 5,000 turns cost at most 1.2 times what 50 do.
func BenchmarkAnswer(b *testing.B) {
	for _, turns := range []int{50, 5000} {
		b.Run(fmt.Sprint(turns, "-turns"), func(b *testing.B) {
			store, m := benched(b, turns)
			list, err := m.Threads.List(ctx)
			if err != nil {
				b.Fatal(err)
			}
			items, err := store.Conversation(ctx, list[0].Head)
			if err != nil {
				b.Fatal(err)
			}
			more := func(n int) {
				prompt, answer := fmt.Sprint("more ", n), item("assistant", strings.Repeat("answer ", 20))
				items = append(items, item("user", prompt))
				m.Traffic.ExchangeEnded(list[0].ID, thread.Exchange{Main: true, Status: 200, Items: items, Answer: &answer, Prompt: prompt, EndsTurn: true, Ended: time.Now()})
				if err := m.Lifecycle.Pin(ctx, list[0].Name, list[0].Pinned); err != nil { // behind the answer in the queue
					b.Fatal(err)
				}
				items = append(items, answer)
			}
			more(0) // the first one reads the conversation back
			for n := 1; b.Loop(); n++ {
				more(n)
			}
		})
	}
}

// benched is a Manager over a store with a thread of some turns.
func benched(b *testing.B, turns int) (*sqlite.Store, *manager.Manager) {
	b.Helper()
	dir := b.TempDir()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "state.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	t := thread.Thread{ID: thread.NewID[thread.ID](), Name: "long-0000", Agent: "claude", Dir: dir, Created: time.Now()}
	if err := store.CreateThread(ctx, t); err != nil {
		b.Fatal(err)
	}
	var parent thread.CheckpointID
	items := 0
	put := func(kind thread.CheckpointKind, turn int, news ...thread.Item) {
		c := thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: t.ID, Parent: parent, Turn: turn, Kind: kind,
			Created: time.Now(), Prompt: fmt.Sprint("prompt ", turn), Usage: thread.Usage{Input: 10}}
		if _, err := store.PutCheckpoint(context.Background(), c, thread.Delta{Keep: items, Items: news}); err != nil {
			b.Fatal(err)
		}
		parent, items = c.ID, items+len(news)
	}
	for i := 1; i <= turns; i++ {
		put(thread.KindResponse, i, item("user", fmt.Sprint("prompt ", i)), item("assistant", strings.Repeat("answer ", 20)))
		put(thread.KindTurn, i)
	}
	m := manager.New(manager.Config{Project: dir, StateDir: dir, Store: store, Sessions: &sessions{},
		Agents: agents{"claude": &plainAgent{"claude"}}, Limits: manager.Limits{}})
	if err := m.Open(ctx); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close(ctx) })
	return store, m
}
