package snapshot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestWorkIsNeverLost leads a worktree with uncommitted and untracked files through what people and servers do to
// it, in an order that a fixed seed picks, the person's own `git gc --prune=now` and `git worktree prune` included.
// Everything that was ever in it when one of our operations began must be in some snapshot at the end.
func TestWorkIsNeverLost(t *testing.T) {
	n := 20
	if s := os.Getenv("WORK_ROUNDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rounds; WORK_ROUNDS=100 for the long run", n)
	ctx := context.Background()
	r := isolate(t)
	r.Write("a", "a\n")
	r.Write(".gitignore", ".env\n")
	r.CommitAll("first")
	rng := rand.New(rand.NewPCG(20261121, 3))
	snap := r.Take(nil)
	all := []thread.Snapshot{snap}
	wt := r.Add("work", snap)
	must := map[string]bool{}
	owe := func() {
		for name, body := range r.Files(wt.Path) {
			if name != ".env" {
				must[name+"\x00"+body] = true
			}
		}
	}
	for i := range n {
		for range 1 + rng.IntN(3) {
			r.WriteIn(wt.Path, fmt.Sprintf("f%d", rng.IntN(6)), fmt.Sprintf("content %d of round %d\n", rng.IntN(1000), i),
				0o644)
		}
		if rng.IntN(4) == 0 {
			_ = os.Remove(filepath.Join(wt.Path, fmt.Sprintf("f%d", rng.IntN(6))))
		}
		r.WriteIn(wt.Path, ".env", "secret", 0o600)
		owe()
		act := rng.IntN(6)
		switch act {
		case 0, 1: // a turn ends
			s, err := r.Store.Take(ctx, "t2", wt.Path, &snap)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		case 2: // back to an earlier turn
			if _, err := r.Store.Restore(ctx, "t2", wt.Path, all[rng.IntN(len(all))]); err != nil {
				t.Fatal(err)
			}
		case 3: // removed, pruned, and made again
			s, err := r.Store.Remove(ctx, "t2", wt)
			if err != nil {
				t.Fatal(err)
			}
			r.Git("worktree", "prune")
			all = append(all, s)
			wt = r.Add("work", s)
		case 4: // the folder is deleted by hand after a turn
			s, err := r.Store.Take(ctx, "t2", wt.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(wt.Path); err != nil {
				t.Fatal(err)
			}
			r.Git("worktree", "prune")
			if err := r.Store.Drop(ctx, "t9"); err != nil {
				t.Fatal(err)
			}
			r.Git("branch", "-q", "-D", wt.Branch)
			all = append(all, s)
			wt = r.Add("work", s)
		case 5: // another server, and git cleans up
			s, err := r.Store.Take(ctx, "t2", wt.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
			r.Store = r.Open(0)
			if said, err := r.Store.Repair(ctx); err != nil || len(said) > 0 {
				t.Fatalf("repair: %v %v", said, err)
			}
			if rng.IntN(3) == 0 {
				r.Git("gc", "-q", "--prune=now")
			}
		}
	}
	r.Git("gc", "-q", "--prune=now")
	safe := r.Reachable()
	for file := range must {
		if !safe[file] {
			name, body, _ := strings.Cut(file, "\x00")
			t.Errorf("%s with %q is lost", name, body)
		}
	}
	for file := range safe {
		if strings.HasPrefix(file, ".env\x00") {
			t.Error("an ignored file is in a snapshot")
		}
	}
}
