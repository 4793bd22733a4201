package snapshot_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/snapshot/snapshottest"
	"orchestrator/thread"
)

// TestDiffKnowsConversions: what only line ends or large-file storage changed on the way to the disk is no change.
func TestDiffKnowsConversions(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	content := "large content\n"
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n",
		sha256.Sum256([]byte(content)), len(content))
	r.Write("crlf.txt", "a\nb\n")
	r.Write("really.txt", "a\nb\n")
	r.Write("plain", "a\nb\n")
	r.Write("big.dat", pointer)
	r.Write("other.dat", pointer)
	r.Write(".gitattributes", "*.txt text eol=crlf\n*.dat filter=lfs -text\n")
	base := r.CommitAll("first")
	r.Write("crlf.txt", "a\r\nb\r\n")
	r.Write("really.txt", "a\r\nc\r\n")
	r.Write("plain", "a\r\nb\r\n")
	r.Write("big.dat", content)
	r.Write("other.dat", "other content!\n")
	snap := r.Take(nil)
	for _, to := range []string{"", snap.Commit} {
		diffs, err := r.Store.Diff(ctx, r.Dir, base, to)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range diffs {
			names = append(names, d.Path)
		}
		if fmt.Sprint(names) != "[other.dat plain really.txt]" {
			t.Errorf("to %q: %v", to, names)
		}
	}
	if got := r.Store.Describe(ctx, r.Dir); got != "3 files changed" {
		t.Errorf("described as %q", got)
	}
}

func TestDiffOfUnborn(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	diffs, err := r.Store.Diff(context.Background(), r.Dir, "", "")
	if err != nil || len(diffs) != 1 || diffs[0].Status != "added" {
		t.Errorf("%+v %v", diffs, err)
	}
	if got := r.Store.Describe(context.Background(), r.Dir); got != "1 file changed" {
		t.Errorf("described as %q", got)
	}
}

// TestAtOnce has several threads and two servers work in one repository at the same time.
func TestAtOnce(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	for i := range 20 {
		r.Write(fmt.Sprintf("f%d", i), "x\n")
	}
	r.CommitAll("first")
	base := r.Take(nil)
	stores := []*snapshottest.Store{r.Store, r.Open(0)}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			s := stores[i%2]
			id := thread.ID(fmt.Sprint("w", i))
			wt, err := s.Add(ctx, id, r.Dir, fmt.Sprint("fork", i), base)
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 3 {
				if err := os.WriteFile(filepath.Join(wt.Path, "f0"), fmt.Appendf(nil, "%d %d\n", i, n), 0o600); err != nil {
					t.Error(err)
				}
				if _, err := s.Take(ctx, id, wt.Path, nil); err != nil {
					t.Error(err)
				}
				if _, err := s.Take(ctx, "shared", r.Dir, nil); err != nil {
					t.Error(err)
				}
			}
			if _, err := s.Diff(ctx, wt.Path, base.Commit, ""); err != nil {
				t.Error(err)
			}
			if _, err := s.Remove(ctx, id, wt); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, err := r.Store.Finder.List(ctx); err != nil || len(list) != 0 {
		t.Errorf("left: %+v %v", list, err)
	}
	safe := r.Reachable()
	for i := range 6 {
		if !safe[fmt.Sprintf("f0\x00%d 2\n", i)] {
			t.Errorf("the work of %d is lost", i)
		}
	}
}

// TestFullDisk needs a small file system to fill, which only root can make.
func TestFullDisk(t *testing.T) {
	dir := os.Getenv("SMALL_DISK")
	if dir == "" {
		t.Skip("NOT RUN: needs a small file system: mount -t tmpfs -o size=4m tmpfs /mnt/small && SMALL_DISK=/mnt/small go test -run FullDisk ./checkpoint/snapshot")
	}
	r := newRepo(t, dir)
	r.Write("a", "a\n")
	r.CommitAll("first")
	first := r.Take(nil)
	var blob []byte
	for i := range 3 << 20 {
		blob = append(blob, byte(i*7+i>>8*13+i>>16))
	}
	r.Write("big", string(blob[:1<<20]))
	filler := filepath.Join(r.Top, "filler")
	if err := os.WriteFile(filler, blob, 0o600); err == nil {
		t.Log("the file system is larger than 4 MB")
	}
	if _, err := r.Store.Take(context.Background(), "t1", r.Dir, &first); !errors.Is(err, thread.ErrDiskFull) {
		t.Errorf("a full disk: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	again := r.Take(&first)
	if r.Held(again)["big"] == "" {
		t.Error("the file is missing after there is room again")
	}
}

// TestRestoreWhileAnAgentWrites: a restore that meets a file which changes under it does all or nothing.
func TestRestoreWhileAnAgentWrites(t *testing.T) {
	r := isolate(t)
	for i := range 30 {
		r.Write(fmt.Sprintf("f%02d", i), "first\n")
	}
	r.Write("busy", "first\n")
	r.CommitAll("first")
	first := r.Take(nil)
	done, gaveUp := 0, 0
	for round := range 4 {
		for i := range 30 {
			r.Write(fmt.Sprintf("f%02d", i), fmt.Sprintf("second %d\n", round))
		}
		r.Remove("f05")
		r.Write("new/file", "n\n")
		before := r.Files(r.Dir)
		stop, ended := make(chan struct{}), make(chan struct{})
		go func() { // ends with stop
			defer close(ended)
			tick := time.NewTicker(time.Duration(10+20*round) * time.Millisecond)
			defer tick.Stop()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-tick.C:
					_ = os.WriteFile(filepath.Join(r.Dir, "busy"), fmt.Appendf(nil, "%d of %d\n", n, round), 0o600)
				}
			}
		}()
		_, err := r.Store.Restore(context.Background(), "t1", r.Dir, first)
		close(stop)
		<-ended
		after := r.Files(r.Dir)
		delete(before, "busy")
		delete(after, "busy")
		switch {
		case err == nil:
			done++
			if after["f05"] != "first\n" || after["f29"] != "first\n" || after["new/file"] != "" {
				t.Errorf("restored in part: %v", after)
			}
		case errors.Is(err, snapshot.ErrChanged):
			gaveUp++
			r.Same("given up, yet changed", after, before)
		default:
			t.Error(err)
		}
		if said, err := r.Store.Repair(context.Background()); err != nil || len(said) > 0 {
			t.Errorf("left to repair: %q %v", said, err)
		}
	}
	t.Logf("restored %d times, gave up %d times", done, gaveUp)
}
