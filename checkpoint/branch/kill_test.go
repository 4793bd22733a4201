//go:build failpoint

package branch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/killtest"
)

func init() {
	child = func() {
		m, err := branch.New(strings.Split(os.Getenv("BRANCH_ENV"), "\n")...)
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
}

// TestKilled ends commit and merge at every place, and with all of git's processes at moments that the clock picks.
// Done again, both come to the same end as if nothing had happened, and what was not committed is untouched.
func TestKilled(t *testing.T) {
	n := killtest.Rounds(t, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	points := []string{"branch.commit.staged", "branch.commit.committed", "branch.merge.begin", "branch.merge.ended"}
	if os.Getenv("KILL_ROUNDS") != "" {
		// At any moment, git itself included: a merge that git was killed in can leave half a file,
		// which the next merge names and refuses (about 1 in 200).
		points = append(points, "clock", "clock", "clock", "clock")
	} else {
		t.Log("NOT RUN: kills at any moment; KILL_ROUNDS=50 go test -tags failpoint -run Killed ./checkpoint/branch runs them")
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			for range n {
				r := newRepo(t)
				for i := range 200 {
					r.writeIn(r.side, fmt.Sprintf("new/f%d", i), fmt.Sprintf("new %d\n", i))
				}
				r.writeIn(r.side, "a", "1\n2\n3\n4 of the side\n")
				if err := os.Remove(filepath.Join(r.side, "b")); err != nil {
					t.Fatal(err)
				}
				r.write("a", "0 of main\n1\n2\n3\n")
				r.commit(r.dir, "main goes on")
				r.write("mine", "not committed\n")
				r.write("x.env", "ignored\n")
				r.killed(point, rng)
				// What a person does whose git was killed, as git tells them to.
				for _, lock := range []string{".git/index.lock", ".git/worktrees/side/index.lock", ".git/HEAD.lock", ".git/refs/heads/main.lock", ".git/worktrees/side/HEAD.lock", ".git/refs/heads/side.lock"} {
					_ = os.Remove(filepath.Join(r.dir, lock))
				}
				r.commit(r.side, "work")
				if err := r.merger.Abort(context.Background(), r.dir); err != nil {
					t.Fatal(err)
				}
				done, err := r.merger.Merge(context.Background(), r.dir, "side", "the merge")
				if err != nil || len(done.Conflicts) > 0 {
					t.Fatalf("merged again: %+v %v", done, err)
				}
				if s := r.git("status", "--porcelain"); s != "?? mine" {
					t.Errorf("status: %s", s)
				}
				if r.read(r.dir, "a") != "0 of main\n1\n2\n3\n4 of the side\n" || r.read(r.dir, "mine") != "not committed\n" || r.read(r.dir, "x.env") != "ignored\n" {
					t.Error("files are not as they should be")
				}
				if got := len(strings.Fields(r.git("ls-files", "new"))); got != 200 {
					t.Errorf("%d new files", got)
				}
				r.git("fsck", "--connectivity-only", "--no-dangling")
			}
		})
	}
}

func (r *repo) killed(point string, rng *rand.Rand) {
	r.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BRANCH_ENV="+strings.Join(r.env, "\n"), "BRANCH_DIR="+r.dir, "BRANCH_SIDE="+r.side)
	if point != "clock" {
		cmd.Env = append(cmd.Env, "ORCHESTRATOR_FAILPOINT="+point)
		if err := cmd.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
			r.Fatalf("%s: %v", point, err)
		}
		return
	}
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	time.Sleep(time.Duration(rng.IntN(250)) * time.Millisecond) // any moment is right
	killtest.Tree(cmd.Process.Pid)
	_ = cmd.Wait()
}
