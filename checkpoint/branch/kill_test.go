package branch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/killtest"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/ground/sample"
)

// child does the work of a process that is to be killed.
func child() {
	failpoint.Arm()
	m, err := branch.New(branch.Config{State: os.Getenv("BRANCH_STATE"),
		Env: strings.Split(os.Getenv("BRANCH_ENV"), "\n")})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := m.Commit(ctx, os.Getenv("BRANCH_SIDE"), "work"); err != nil {
		panic(err)
	}
	if _, err := m.Merge(ctx, os.Getenv("BRANCH_DIR"), "side", "the merge"); err != nil {
		panic(err)
	}
}

// places are where TestKilled kills: named ones; "clock", the process with all of git's at any moment; "file", the
// same when a file of the merge appears; "orphan", the process alone at that moment, whose git goes on.
var places = []string{
	"branch.commit.staged", "branch.commit.committed", "branch.merge.begin", "branch.merge.ended", "clock", "file",
	"orphan",
}

// files is how many files the merge brings.
const files = 60

// TestKilled ends commit and merge. Done again, both come to the same end as if nothing had happened, and what was
// not committed is untouched.
func TestKilled(t *testing.T) {
	n := killtest.Rounds(t, 2)
	for i, place := range sample.Of(t, 2, places) {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			inMerge := 0
			for round := range n { // each takes its files away
				t.Run(strconv.Itoa(round), func(t *testing.T) {
					if killed(t, place, rng) {
						inMerge++
					}
				})
			}
			t.Logf("%d of %d kills in the middle of a merge", inMerge, n)
		})
	}
}

// killed is one round; inMerge says that the merge had begun and not ended.
func killed(t *testing.T, place string, rng *rand.Rand) (inMerge bool) {
	r := newRepo(t)
	for i := range files {
		r.writeIn(r.side, fmt.Sprintf("new/f%d", i), fmt.Sprintf("new %d\n", i))
	}
	r.writeIn(r.side, "a", "1\n2\n3\n4 of the side\n")
	r.writeIn(r.side, "big", strings.Repeat("a line of the side\n", 1<<16))
	if err := os.Remove(filepath.Join(r.side, "b")); err != nil {
		t.Fatal(err)
	}
	r.write("a", "0 of main\n1\n2\n3\n")
	begin := time.Now()
	r.commit(r.dir, "main goes on")
	took := 8 * time.Since(begin) // about what is to be killed takes, on a machine as busy as this
	r.write("mine", "not committed\n")
	r.write("x.env", "ignored\n")
	r.kill(place, took, rng)
	if note, err := os.Stat(filepath.Join(r.dir, ".git/orchestrator-merge")); err == nil && note.Size() > 0 {
		inMerge = true
	}
	if strings.HasPrefix(place, "branch.merge.") && len(r.scratch()) == 0 {
		t.Error("a kill in a merge leaves no scratch folder: nothing is tried here")
	}
	if place == "clock" || place == "file" {
		r.unlock()
	}
	r.commit(r.side, "work")
	done, err := r.merger.Merge(context.Background(), r.dir, "side", "the merge")
	if err != nil || len(done.Conflicts) > 0 {
		t.Fatalf("merged again: %+v %v", done, err)
	}
	if s := r.git("status", "--porcelain"); s != "?? mine" {
		t.Errorf("status: %s", s)
	}
	if r.read(r.dir, "a") != "0 of main\n1\n2\n3\n4 of the side\n" || r.read(r.dir, "mine") != "not committed\n" ||
		r.read(r.dir, "x.env") != "ignored\n" {
		t.Error("files are not as they should be")
	}
	if got := len(strings.Fields(r.git("ls-files", "new"))); got != files {
		t.Errorf("%d new files", got)
	}
	r.git("fsck", "--connectivity-only", "--no-dangling")
	if left, err := os.ReadDir(r.views); err != nil || len(left) > 0 {
		t.Errorf("frozen views are left: %v %v", left, err)
	}
	if left := r.scratch(); len(left) > 0 {
		t.Errorf("scratch folders are left: %q", left)
	}
	return inMerge
}

// unlock is what a person does whose git was killed, as git tells them to.
func (r *repo) unlock() {
	for _, lock := range []string{"index.lock", "worktrees/side/index.lock", "HEAD.lock", "refs/heads/main.lock",
		"worktrees/side/HEAD.lock", "refs/heads/side.lock"} {
		_ = os.Remove(filepath.Join(r.dir, ".git", lock))
	}
}

func (r *repo) kill(place string, took time.Duration, rng *rand.Rand) {
	r.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BRANCH_ENV="+strings.Join(r.env, "\n"), "BRANCH_DIR="+r.dir, "BRANCH_STATE="+r.views,
		"BRANCH_SIDE="+r.side)
	if strings.Contains(place, ".") {
		cmd.Env = append(cmd.Env, "ORCHESTRATOR_FAILPOINT="+place)
		if err := cmd.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
			r.Fatalf("%s: %v", place, err)
		}
		return
	}
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	if place == "clock" {
		time.Sleep(time.Duration(rng.IntN(int(took)))) // any moment is right
	} else {
		r.appears(fmt.Sprintf("new/f%d", rng.IntN(files)))
	}
	if place == "orphan" {
		_ = cmd.Process.Kill()
	} else {
		killtest.Tree(cmd.Process.Pid)
	}
	_ = cmd.Wait()
}

// appears waits until a file is there that the merge brings.
func (r *repo) appears(name string) {
	r.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if _, err := os.Lstat(filepath.Join(r.dir, name)); err == nil {
			return
		}
	}
	r.Fatalf("%s never came", name)
}
