package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
	"orchestrator/thread/work"
)

// folderOf returns where the process of a run works.
func folderOf(r *e2e.Rig, name string) string {
	r.T.Helper()
	x := becomes(r, name, work.Running)
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--json") {
		if s.ID == x.Thread {
			return s.Dir
		}
	}
	r.T.Fatalf("no thread of %s", name)
	return ""
}

// noPlace checks that no place of read-only runs is left: neither a folder nor a worktree, a branch or a ref.
func noPlace(r *e2e.Rig) {
	r.T.Helper()
	e2e.Await(r.T, "the place to go", func() bool {
		return !strings.Contains(r.Git("worktree", "list")+r.Git("for-each-ref", "--format=%(refname)"), "readonly-") &&
			!strings.Contains(r.Git("for-each-ref"), "/witness/")
	})
}

// TestReadOnlyRuns: runs that must only read share a place with the files as they are. What is changed there, by whatever
// means, fails each that was in it; the person's folder is never touched, and nothing is left, also after a kill.
func TestReadOnlyRuns(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write("untracked.txt", "mine\n")
	one := runIt(r, "say one #slow:4s", "--read-only")
	two := runIt(r, "say two #slow:4s", "--read-only")
	at := folderOf(r, one)
	if other := folderOf(r, two); other != at || at == r.Project {
		t.Fatalf("they work in %s and %s", at, other)
	}
	if b, err := os.ReadFile(filepath.Join(at, "untracked.txt")); err != nil || string(b) != "mine\n" {
		t.Errorf("the place has %q: %v", b, err)
	}
	if err := os.WriteFile(filepath.Join(at, "evil.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{one, two} {
		if x := becomes(r, name, work.Failed); !strings.Contains(x.Reason, "may only read: evil.txt") {
			t.Errorf("%s: %s", name, x.Reason)
		}
	}
	noPlace(r)
	if _, err := os.Stat(filepath.Join(r.Project, "evil.txt")); err == nil {
		t.Error("the person's folder has it")
	}

	three := runIt(r, "say three", "--read-only")
	x := becomes(r, three, work.Completed)
	if s := r.Status(string(x.Thread)); s.Dir != r.Project {
		t.Errorf("its thread is in %s", s.Dir)
	}
	r.Ok("exec", "send", three, "say four")
	becomes(r, "exec-004", work.Completed)

	five := runIt(r, "say five #slow:60s", "--read-only")
	folderOf(r, five)
	r.KillAll()
	if x := becomes(r, five, work.Lost); r.Status(string(x.Thread)).Dir != r.Project {
		t.Errorf("its thread is in %s", r.Status(string(x.Thread)).Dir)
	}
	noPlace(r)
}

// TestDisposal: a run's own worktree is removed by its rule, its work is where the rule says, and the next run of its
// thread goes on with it.
func TestDisposal(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for _, how := range []string{"branch", "merge", "drop"} {
		name := runIt(r, "write "+how+".txt: text of it", "-w", "--dispose", how)
		x := becomes(r, name, work.Completed)
		s := r.Status(string(x.Thread))
		e2e.Await(t, "the worktree of "+how+" to go", func() bool {
			_, err := os.Stat(s.Worktree.Path)
			return os.IsNotExist(err)
		})
		branches := r.Git("for-each-ref", "--format=%(refname:short)", "refs/heads")
		if how == "drop" { // it follows on the worktree
			e2e.Await(t, "the branch to go", func() bool {
				branches = r.Git("for-each-ref", "--format=%(refname:short)", "refs/heads")
				return !strings.Contains(branches, s.Worktree.Branch)
			})
		}
		if kept := strings.Contains(branches, s.Worktree.Branch); kept == (how == "drop") {
			t.Errorf("%s: branches %s", how, branches)
		}
		if how == "branch" {
			if got := r.Git("show", s.Worktree.Branch+":branch.txt"); !strings.Contains(got, "text of it") {
				t.Errorf("the branch has %q", got)
			}
			next := strings.TrimSpace(r.Ok("exec", "send", "-d", name, "write more.txt: more"))
			becomes(r, next, work.Completed)
			e2e.Await(t, "the worktree to go again", func() bool {
				_, err := os.Stat(s.Worktree.Path)
				return os.IsNotExist(err)
			})
			if got := r.Git("show", s.Worktree.Branch+":more.txt") + r.Git("show", s.Worktree.Branch+":branch.txt"); !strings.Contains(got, "text of it") {
				t.Errorf("the branch has %q after the next run", got)
			}
			tip := r.Git("rev-parse", s.Worktree.Branch)
			becomes(r, strings.TrimSpace(r.Ok("exec", "send", "-d", name, "say nothing")), work.Completed)
			e2e.Await(t, "the worktree to go once more", func() bool {
				_, err := os.Stat(s.Worktree.Path)
				return os.IsNotExist(err)
			})
			if got := r.Git("rev-parse", s.Worktree.Branch); got != tip {
				t.Errorf("a run that changed nothing took the branch from %s to %s", tip, got)
			}
			r.Ok("merge", s.Name)
			for file, text := range map[string]string{"branch.txt": "text of it", "more.txt": "more"} {
				if got := r.Git("show", "HEAD:"+file); !strings.Contains(got, text) {
					t.Errorf("merged, the person's branch has %q in %s", got, file)
				}
			}
		}
		if _, err := os.Stat(filepath.Join(r.Project, how+".txt")); (err == nil) == (how == "drop") {
			t.Errorf("%s: the person's folder: %v", how, err)
		}
	}
}

// TestKilledBesideARun kills the server between the steps of a place and of a disposal: the next one finishes them, each
// run has an end, its thread its own folder, and nothing is left. A removal that had not begun is left to the person.
func TestKilledBesideARun(t *testing.T) {
	rounds := e2e.FromEnv(t, "FAILPOINT_ROUNDS", 1)
	readOnly, branch, merge := []string{"--read-only"}, []string{"-w", "--dispose", "branch"}, []string{"-w", "--dispose", "merge"}
	gaps := []struct {
		at    string
		flags []string
	}{
		{"witness.join.added", readOnly}, {"thread.place.joined", readOnly}, {"thread.place.entered", readOnly},
		{"thread.place.left", readOnly}, {"thread.exec.ended", readOnly}, {"witness.leave.removed", readOnly},
		{"thread.exec.ended", branch}, {"thread.dispose.intended", branch}, {"thread.dispose.committed", branch},
		{"thread.dispose.safe", branch}, {"thread.dispose.merged", merge}, {"thread.dispose.intended", merge},
	}
	for _, gap := range sample.Of(t, 5, gaps) {
		t.Run(gap.at+" "+strings.Join(gap.flags, " "), func(t *testing.T) {
			t.Parallel()
			for range rounds {
				killedBeside(e2e.NewRig(t), gap.at, gap.flags)
			}
		})
	}
}

func killedBeside(r *e2e.Rig, at string, flags []string) {
	r.T.Helper()
	r.Ok("threads") // a server starts before it may be killed
	r.Ok("stop")
	healthy := r.Env
	r.Env = append(append([]string(nil), healthy...), "ORCHESTRATOR_FAILPOINT="+at)
	task := "write made.txt: some text"
	if flags[0] == "--read-only" {
		task = "say one"
	}
	r.Run(append([]string{"run", "--once", "-d", "-a", "demo", "--permission-mode", "auto", "--lost", "retry", task}, flags...)...)
	r.Env = healthy
	e2e.Await(r.T, "the server to be killed at "+at, func() bool { return len(r.Servers()) == 0 })
	x := becomes(r, "exec-001", work.Completed)
	if stays := flags[0] != "--read-only" && (at == "thread.exec.ended" || at == "thread.dispose.merged"); stays {
		r.Ok("restart")
		if _, err := os.Stat(r.Status(string(x.Thread)).Worktree.Path); err != nil {
			r.T.Errorf("its worktree: %v", err)
		}
	} else {
		e2e.Await(r.T, "the rest to be done after "+at, func() bool {
			return !strings.Contains(r.Git("worktree", "list"), "worktrees/")
		})
	}
	noPlace(r)
	if s := r.Status(string(x.Thread)); s.Once.From != "" || flags[0] == "--read-only" && s.Dir != r.Project {
		r.T.Errorf("its thread is in %s, from %q", s.Dir, s.Once.From)
	}
	if flags[0] == "--read-only" {
		return
	}
	from := r.Status(string(x.Thread)).Worktree.Branch
	if at == "thread.exec.ended" {
		return // it is not committed
	}
	if flags[2] == "merge" {
		from = "HEAD"
	}
	if got := r.Git("show", from+":made.txt"); !strings.Contains(got, "some text") {
		r.T.Errorf("%s has %q", from, got)
	}
}
