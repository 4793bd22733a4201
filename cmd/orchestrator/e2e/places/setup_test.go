package places

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// TestForkCanWork: a fork has the ignored files that the project names, and what its setup made, before its agent
// starts; a script that changed is asked about again.
func TestForkCanWork(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write(".gitignore", "*.env\ndeps/\n")
	r.Write(".worktreeinclude", "*.env\n")
	r.Write("tools/setup.sh", "mkdir deps && cp hello.go deps/made\n")
	r.Write(".orchestrator.toml", "setup = \"sh tools/setup.sh\"\nteardown = \"touch "+filepath.Join(r.Home, "torn-down")+"\"\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "a project with a setup")
	r.Write("local.env", "KEY=1\n")
	out := r.Ok("trust", "--yes")
	for _, want := range []string{"sh tools/setup.sh", `file "tools/setup.sh"`, "teardown", "not what those start in turn"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
	name := r.Demo()
	r.Turn(name, "write a.txt: words")
	fork := e2e.Get[thread.Thread](r, "fork", "other way", "-t", name)
	for _, file := range []string{"local.env", "deps/made", "a.txt"} {
		if _, err := os.Stat(filepath.Join(fork.Worktree.Path, file)); err != nil {
			t.Errorf("the fork lacks a file: %v", err)
		}
	}
	r.Ok("stop", fork.Name)
	if err := os.RemoveAll(fork.Worktree.Path); err != nil {
		t.Fatal(err)
	}
	r.Ok("resume", fork.Name)
	for _, file := range []string{"local.env", "deps/made"} {
		if _, err := os.Stat(filepath.Join(fork.Worktree.Path, file)); err != nil {
			t.Errorf("the worktree that was made again lacks a file: %v", err)
		}
	}
	r.AwaitState(fork.Name, thread.StateIdle, thread.StateDone)
	r.Ok("finish", fork.Name)
	if _, err := os.Stat(filepath.Join(r.Home, "torn-down")); err != nil {
		t.Errorf("teardown: %v", err)
	}
	r.Write("tools/setup.sh", "touch changed\n")
	r.Turn(name, "list files")
	fork = e2e.Get[thread.Thread](r, "fork", "third way", "-t", name)
	if _, err := os.Stat(filepath.Join(fork.Worktree.Path, "deps")); err == nil {
		t.Error("a changed script was taken for the accepted one")
	}
	if _, err := os.Stat(filepath.Join(fork.Worktree.Path, "changed")); err == nil {
		t.Error("a changed script ran")
	}
	// Its teardown does not run either, which finish says, also to programs.
	if err := os.Remove(filepath.Join(r.Home, "torn-down")); err != nil {
		t.Fatal(err)
	}
	r.AwaitState(fork.Name, thread.StateIdle, thread.StateDone)
	if report := e2e.Get[thread.MergeReport](r, "finish", fork.Name); !strings.Contains(report.Undone, "it did not run") || !strings.Contains(report.Undone, "accepted") {
		t.Errorf("finish says %+v", report)
	}
	if _, err := os.Stat(filepath.Join(r.Home, "torn-down")); err == nil {
		t.Error("a teardown that was not accepted ran")
	}
}

// TestSetupIsCutOff kills the server in the middle of a setup: the next one ends what is left of it, list, why and resume
// name it, and it runs again when it is told to, and not before.
func TestSetupIsCutOff(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	mark := filepath.Join(r.Home, "set-up")
	r.Write("tools/setup.sh", "echo begun >>\""+mark+"\"\n[ -e \""+mark+".go\" ] || { sleep 765432 & setsid sleep 765432; }\necho done >>\""+mark+"\"\n")
	r.Write(".orchestrator.toml", "setup = \"sh tools/setup.sh\"\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "a project with a setup")
	r.Ok("trust", "--yes")
	name := r.Demo()
	r.Turn(name, "write a.txt: words")
	forking := r.Command("fork", "other way", "-t", name)
	if err := forking.Start(); err != nil {
		t.Fatal(err)
	}
	said := func() string { b, _ := os.ReadFile(mark); return string(b) }
	e2e.Await(t, "the setup to begin", func() bool { return said() == "begun\n" })
	cl := client.New(r.Claimed().Socket)
	info, err := api.Info.Do(t.Context(), cl, api.InfoRequest{})
	cl.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(info.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = forking.Wait() // its server is gone
	res := r.Run("threads")
	var fork string
	for line := range strings.Lines(res.Stdout) {
		if strings.HasPrefix(line, "other-way-") && strings.Contains(line, "setup unfinished") {
			fork = strings.Fields(line)[0]
		}
	}
	again := "run it again with `orchestrator setup " + fork + "`"
	if fork == "" || !strings.Contains(res.Stderr, again) || !strings.Contains(res.Stderr, "of its processes were still running") {
		t.Fatalf("the list says %s%s", res.Stdout, res.Stderr)
	}
	if out, err := exec.Command("pgrep", "-f", "sleep 765432").Output(); err == nil {
		t.Errorf("left running: %s", out)
	}
	if out := r.Ok("why", fork); !strings.Contains(out, again) {
		t.Errorf("why says %s", out)
	}
	if out := r.Ok("resume", fork); !strings.Contains(out, again) {
		t.Errorf("resume says %s", out)
	}
	if said() != "begun\n" {
		t.Errorf("it ran by itself: %q", said())
	}
	e2e.Put(t, mark+".go", "go")
	if out := r.Ok("setup", fork); !strings.Contains(out, fork+" is set up") || said() != "begun\nbegun\ndone\n" {
		t.Errorf("setup says %s, and did %q", out, said())
	}
	if out := r.Ok("threads"); strings.Contains(out, "unfinished") {
		t.Errorf("it is still named: %s", out)
	}
}
