package worktree_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orchestrator/thread"
)

// BenchmarkAdd measures Add beside `git worktree add` on the same repository, by turns, and reports the medians'
// ratio: go test ./checkpoint/worktree -run '^$' -bench Add -benchtime 20x
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{200, 2000} {
		for _, dirty := range []bool{false, true} {
			b.Run(fmt.Sprintf("files=%d/dirty=%t", n, dirty), func(b *testing.B) { benchAdd(b, n, dirty) })
		}
	}
}

func benchAdd(b *testing.B, n int, dirty bool) {
	r := newRepo(b, b.TempDir())
	r.Fill(n)
	if dirty {
		for i := range 10 {
			r.Write(fmt.Sprintf("src/pkg000/file%04d.go", i), "changed\n")
			r.Write(fmt.Sprintf("new%d", i), "untracked\n")
		}
	}
	snap := r.Take(nil)
	ctx := context.Background()
	var ours, theirs []time.Duration
	i := 0
	for b.Loop() {
		i++
		path := filepath.Join(r.Top, "trees", fmt.Sprint("plain", i))
		start := time.Now()
		r.Git("worktree", "add", "-q", "-b", fmt.Sprint("plain", i), path, snap.Base)
		theirs = append(theirs, time.Since(start))
		start = time.Now()
		wt, err := r.Store.Add(ctx, thread.ID(fmt.Sprint("t", i)), r.Dir, fmt.Sprint("fork", i), snap)
		ours = append(ours, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
		_ = os.RemoveAll(path)
		_ = os.RemoveAll(wt.Path)
	}
	b.ReportMetric(median(ours).Seconds()*1000, "ms/add")
	b.ReportMetric(median(theirs).Seconds()*1000, "ms/git-worktree-add")
	b.ReportMetric(median(ours).Seconds()/median(theirs).Seconds(), "ratio")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
