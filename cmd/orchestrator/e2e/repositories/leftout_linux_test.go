package repositories

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// leftFile returns why a file was left out, "" if it was not.
func leftFile(left []thread.LeftOut, path string) string {
	for _, l := range left {
		if l.Path == path && l.Kind == thread.LeftFile {
			return l.Why
		}
	}
	return ""
}

// TestLargeFilesAreLeftOut: a file that snapshots do not take is in what a fork and a rewind say that they left out, as text
// and as JSON, and a dry run and a continued merge list what the merge leaves out.
func TestLargeFilesAreLeftOut(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	big := filepath.Join(r.Project, "big.bin")
	r.Write("big.bin", "large")
	if err := os.Truncate(big, 60<<20); err != nil {
		t.Fatal(err)
	}
	nested := filepath.Join(r.Project, "nested")
	for _, args := range [][]string{{"init", "-q", nested}, {"-C", nested, "-c", "user.name=n", "-c", "user.email=n@example.com",
		"commit", "-q", "--allow-empty", "-m", "theirs"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	name := r.Demo("parent")
	r.Turn(name, "write a.txt: one")
	r.Turn(name, "write a.txt: two")
	fork := e2e.Get[thread.Status](r, "fork", "way", "-t", name)
	if why := leftFile(fork.LeftOut, "big.bin"); !strings.Contains(why, "larger than") || !strings.Contains(why, "not here") {
		t.Errorf("the fork left out %+v", fork.LeftOut)
	}
	for _, of := range []string{name, fork.Name} { // which has the nested repository, and which has not
		left := e2e.Get[thread.Status](r, "fork", "further", "-t", of).LeftOut
		nested := slices.DeleteFunc(left, func(l thread.LeftOut) bool { return l.Path != "nested" })
		if len(nested) != 1 || nested[0].Kind != thread.LeftRepository {
			t.Errorf("of the nested repository, a fork of %s left out %+v", of, nested)
		}
	}
	if out := r.Ok("fork", "another", "-t", name); !strings.Contains(out, "left out: file big.bin: larger than") {
		t.Errorf("the fork said %s", out)
	}
	rewound := e2e.Get[thread.RewindReport](r, "checkpoint", "restore", "--files", name, "1")
	if why := leftFile(rewound.LeftOut, "big.bin"); !strings.Contains(why, "stays as it is now") {
		t.Errorf("the rewind left out %+v", rewound.LeftOut)
	}
	archive := filepath.Join(r.Home, "carried")
	r.Ok("export", name, "-o", archive)
	there := e2e.NewRig(t)
	imported := e2e.Get[thread.Imported](there, "import", archive)
	if why := leftFile(imported.LeftOut, "big.bin"); !strings.Contains(why, "larger than") || !strings.Contains(why, "not here") {
		t.Errorf("the import left out %+v", imported.LeftOut)
	}
	if out := there.Ok("import", archive); !strings.Contains(out, "left out: file big.bin: larger than") {
		t.Errorf("the import said %s", out)
	}
	gate := filepath.Join(r.Project, ".git", "hooks", "pre-commit")
	e2e.Put(t, gate, "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(gate, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Turn(fork.Name, "write b.txt: theirs")
	dry := r.Run("merge", fork.Name, "--dry-run", "--commit-parent").Stdout
	if stopped := r.Run("merge", fork.Name, "--commit-parent"); !strings.Contains(stopped.Stdout, "conflicts in") {
		t.Fatalf("the merge has no conflict: %s%s", stopped.Stdout, stopped.Stderr)
	}
	r.Write("a.txt", "both\n")
	r.Git("add", "a.txt")
	report := e2e.Get[thread.MergeReport](r, "merge", fork.Name, "--continue")
	if len(report.LeftOut) == 0 || report.LeftOut[0].Kind != thread.LeftGate || report.LeftOut[0].Path != gate || !strings.Contains(dry, "left out: gate "+gate) {
		t.Errorf("the merge left out %+v, its dry run said %s", report.LeftOut, dry)
	}
}

// TestWaitingSigner: a signer that waits ends with the verb that it was started for, is named to who waits for it, and
// does not hold up the end of the server.
func TestWaitingSigner(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	pids := filepath.Join(r.Home, "signers")
	signer := filepath.Join(r.Home, "waiting-signer")
	e2e.Put(t, signer, "#!/bin/sh\necho $$ >> '"+pids+"'\nexec sleep 600\n")
	if err := os.Chmod(signer, 0o700); err != nil {
		t.Fatal(err)
	}
	name := r.Demo("parent")
	r.Turn(name, "list files")
	forks := []string{r.Demo("-w", "one"), r.Demo("-w", "two")}
	for _, fork := range forks {
		r.Turn(fork, "write "+fork+".txt: mine")
	}
	r.Git("config", "--global", "gpg.program", signer)
	r.Git("config", "--global", "commit.gpgSign", "true")
	waits := func(n int) (pid int) {
		t.Helper()
		e2e.Await(t, "the signer to wait", func() bool {
			b, err := os.ReadFile(pids)
			all := strings.Fields(string(b))
			if err != nil || len(all) < n {
				return false
			}
			pid, err = strconv.Atoi(all[n-1])
			return err == nil
		})
		return pid
	}
	gone := func(pid int) {
		t.Helper()
		e2e.Await(t, "the signer to be gone", func() bool { // also if nobody collects it
			b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
			return err != nil || len(b) == 0
		})
	}
	begin := func() *exec.Cmd {
		t.Helper()
		cmd := r.Command("merge", forks[0], "--commit-parent")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}

	cmd := begin()
	pid := waits(1)
	res := r.Run("merge", forks[1], "--commit-parent")
	if res.Code == 0 || !strings.Contains(res.Stderr, "it is waiting for sleep") { // what the signer has become
		t.Errorf("beside it: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was interrupted
	gone(pid)

	cmd = begin()
	pid = waits(2)
	stopping := time.Now()
	r.Ok("stop")
	if took := time.Since(stopping); took > 30*time.Second {
		t.Errorf("the server stopped in %v", took)
	}
	_ = cmd.Wait() // its server ended
	gone(pid)

	r.Git("config", "--global", "commit.gpgSign", "false")
	for _, fork := range forks {
		r.Ok("merge", fork, "--commit-parent")
	}
}
