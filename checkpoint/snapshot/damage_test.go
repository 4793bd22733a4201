package snapshot_test

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
		fork, project := r.files(wt.Path), r.files(r.dir)
		r.store = r.open(0)
		all, err := r.store.Repair(t.Context())
		said := strings.Join(all, "\n")
		if err != nil {
			t.Errorf("%s of %s: repair: %v", kind, file, err)
		}
		ids, err := r.store.Damaged(t.Context())
		if err != nil {
			t.Errorf("%s of %s: %v", kind, file, err)
		}
		for _, id := range ids {
			more, err := r.store.RepairRefs(t.Context(), id, []string{last.Commit})
			if err != nil {
				t.Errorf("%s of %s: mend: %v", kind, file, err)
			}
			said += more
		}
		r.same(kind+" of "+file+": the fork", r.files(wt.Path), fork)
		r.same(kind+" of "+file+": the project", r.files(r.dir), project)
		if snap, err := r.store.Take(t.Context(), "t2", wt.Path, &last); err == nil {
			whole++
			delete(fork, ".env")
			r.same(kind+" of "+file+": held", r.held(snap), fork)
		} else {
			named++
			t.Logf("%s of %s: %v; said %q", kind, file, err, said)
		}
		back, err := r.store.Add(t.Context(), "t5", r.dir, "back", last)
		if err != nil {
			t.Errorf("%s of %s: fork the last snapshot: %v", kind, file, err)
			continue
		}
		delete(fork, ".env")
		r.same(kind+" of "+file+": forked again", r.files(back.Path), fork)
	}
	t.Logf("%d worked on, %d were refused by name", whole, named)
}

// damage picks a file and what becomes of it.
func (r *repo) damage(rng *rand.Rand, wt thread.Worktree) (file, kind string) {
	r.Helper()
	files := []string{filepath.Join(wt.Path, ".git"), filepath.Join(r.dir, ".git/refs/heads/orchestrator/fork")}
	for _, dir := range []string{
		filepath.Join(r.top, "state"), filepath.Join(r.dir, ".git/worktrees/fork"), filepath.Join(r.dir, ".git/refs/orchestrator"),
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
	views, err := filepath.Glob(filepath.Join(r.top, "state", "*", "main", "view", "config"))
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
		r.store = r.open(0)
		if _, err := r.store.Take(t.Context(), "t2", r.dir, &last); err != nil {
			t.Errorf("bit %d of byte %d: %v", i%8, i, err)
		}
		if got, err := os.ReadFile(views[0]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("bit %d of byte %d: the view is still %q, %v", i%8, i, got, err)
		}
	}
}
