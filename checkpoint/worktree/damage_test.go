package worktree_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestRandomDamage damages one file of our state, of a worktree's part of the repository, or one of our refs, in a way
// that a fixed seed picks. No file of the person's is touched; either all works after the next start, or it is named
// and the last snapshot can be forked.
func TestRandomDamage(t *testing.T) {
	n := 8
	if s := os.Getenv("WORK_ROUNDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rounds; WORK_ROUNDS=500 for the long run", n)
	rng := rand.New(rand.NewPCG(20261122, 7))
	whole, named := 0, 0
	for range n {
		r := isolate(t)
		wt, last := r.fork()
		file, kind := r.damage(rng, wt)
		fork, project := r.Files(wt.Path), r.Files(r.Dir)
		r.Store = r.Open(0)
		all, err := r.Store.Repair(t.Context())
		said := strings.Join(all, "\n")
		if err != nil {
			t.Errorf("%s of %s: repair: %v", kind, file, err)
		}
		ids, err := r.Store.Damaged(t.Context())
		if err != nil {
			t.Errorf("%s of %s: %v", kind, file, err)
		}
		for _, id := range ids {
			more, err := r.Store.RepairRefs(t.Context(), id, []string{last.Commit})
			if err != nil {
				t.Errorf("%s of %s: repair: %v", kind, file, err)
			}
			said += more
		}
		r.Same(kind+" of "+file+": the fork", r.Files(wt.Path), fork)
		r.Same(kind+" of "+file+": the project", r.Files(r.Dir), project)
		if snap, err := r.Store.Take(t.Context(), "t2", wt.Path, &last); err == nil {
			whole++
			delete(fork, ".env")
			r.Same(kind+" of "+file+": held", r.Held(snap), fork)
		} else {
			named++
			t.Logf("%s of %s: %v; said %q", kind, file, err, said)
		}
		back, err := r.Store.Add(t.Context(), "t5", r.Dir, "back", last)
		if err != nil {
			t.Errorf("%s of %s: fork the last snapshot: %v", kind, file, err)
			continue
		}
		delete(fork, ".env")
		r.Same(kind+" of "+file+": forked again", r.Files(back.Path), fork)
	}
	t.Logf("%d worked on, %d were refused by name", whole, named)
}

// damage picks a file and what becomes of it.
func (r *repo) damage(rng *rand.Rand, wt thread.Worktree) (file, kind string) {
	r.Helper()
	files := []string{filepath.Join(wt.Path, ".git"), filepath.Join(r.Dir, ".git/refs/heads/orchestrator/fork")}
	for _, dir := range []string{
		filepath.Join(r.Top, "state"), filepath.Join(r.Dir, ".git/worktrees/fork"),
		filepath.Join(r.Dir, ".git/refs/orchestrator"),
	} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && filepath.Base(path) != "lock" {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			r.Fatal(err)
		}
	}
	slices.Sort(files)
	file = files[rng.IntN(len(files))]
	content, err := os.ReadFile(file)
	if err != nil {
		r.Fatal(err)
	}
	bad := bytes.Clone(content)
	switch kind = []string{"emptying", "zeroing", "cutting", "flipping a bit", "noise", "removing"}[rng.IntN(6)]; {
	case kind == "removing":
		if err := os.Remove(file); err != nil {
			r.Fatal(err)
		}
		return file, kind
	case kind == "emptying" || len(bad) == 0:
		bad = nil
	case kind == "zeroing":
		clear(bad)
	case kind == "cutting":
		bad = bad[:rng.IntN(len(bad))]
	case kind == "flipping a bit":
		bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
	default:
		for i := range bad {
			bad[i] = byte(rng.IntN(256))
		}
	}
	if err := os.WriteFile(file, bad, 0o600); err != nil {
		r.Fatal(err)
	}
	return file, kind
}

// TestFlippedView flips bits in the frozen view of the repository's configuration, which git reads for us: the next
// snapshot is taken by one that is whole.
func TestFlippedView(t *testing.T) {
	r := isolate(t)
	_, last := r.fork()
	views, err := filepath.Glob(filepath.Join(r.Top, "state", "*", "main", "view", "config"))
	if err != nil || len(views) != 1 {
		t.Fatalf("views: %q, %v", views, err)
	}
	want, err := os.ReadFile(views[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(want); i += 1 + len(want)/16 {
		flipped := bytes.Clone(want)
		flipped[i] ^= 1 << (i % 8)
		if err := os.WriteFile(views[0], flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		r.Store = r.Open(0)
		if _, err := r.Store.Take(t.Context(), "t2", r.Dir, &last); err != nil {
			t.Errorf("bit %d of byte %d: %v", i%8, i, err)
		}
		if got, err := os.ReadFile(views[0]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("bit %d of byte %d: the view is still %q, %v", i%8, i, got, err)
		}
	}
}
