package snapshot_test

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

// fill makes n files of about 4 KB in folders of 20 and commits them.
func (r *repo) fill(n int) {
	r.Helper()
	for i := range n {
		line := fmt.Sprintf("line of file %d, which says something of a usual length\n", i)
		var body []byte
		for range 70 {
			body = append(body, line...)
		}
		r.write(fmt.Sprintf("src/pkg%03d/file%04d.go", i/20, i), string(body))
	}
	r.commitAll("first")
}

// BenchmarkAdd measures Add beside `git worktree add` on the same repository, by turns, and reports the medians'
// ratio: go test ./checkpoint/snapshot -run '^$' -bench Add -benchtime 20x
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{200, 2000} {
		for _, dirty := range []bool{false, true} {
			b.Run(fmt.Sprintf("files=%d/dirty=%t", n, dirty), func(b *testing.B) { benchAdd(b, n, dirty) })
		}
	}
}

func benchAdd(b *testing.B, n int, dirty bool) {
	r := newRepo(b, b.TempDir())
	r.fill(n)
	if dirty {
		for i := range 10 {
			r.write(fmt.Sprintf("src/pkg000/file%04d.go", i), "changed\n")
			r.write(fmt.Sprintf("new%d", i), "untracked\n")
		}
	}
	snap := r.take(nil)
	ctx := context.Background()
	var ours, theirs []time.Duration
	i := 0
	for b.Loop() {
		i++
		path := filepath.Join(r.top, "trees", fmt.Sprint("plain", i))
		start := time.Now()
		r.git("worktree", "add", "-q", "-b", fmt.Sprint("plain", i), path, snap.Base)
		theirs = append(theirs, time.Since(start))
		start = time.Now()
		wt, err := r.store.Add(ctx, thread.ID(fmt.Sprint("t", i)), r.dir, fmt.Sprint("fork", i), snap)
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

// BenchmarkTakeUnchanged measures a snapshot when nothing changed, beside `git status`.
func BenchmarkTakeUnchanged(b *testing.B) {
	for _, n := range []int{200, 2000, 10000} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			r := newRepo(b, b.TempDir())
			r.fill(n)
			snap := r.take(nil)
			var ours, theirs []time.Duration
			for b.Loop() {
				start := time.Now()
				r.take(&snap)
				ours = append(ours, time.Since(start))
				start = time.Now()
				r.git("status", "--porcelain")
				theirs = append(theirs, time.Since(start))
			}
			b.ReportMetric(median(ours).Seconds()*1000, "ms/take")
			b.ReportMetric(median(theirs).Seconds()*1000, "ms/git-status")
		})
	}
}

// BenchmarkTakeNew measures the snapshot of many new files, which are all synced.
func BenchmarkTakeNew(b *testing.B) {
	r := newRepo(b, b.TempDir())
	r.write("a", "a")
	r.commitAll("first")
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		for i := range 500 {
			r.write(fmt.Sprintf("new%d", i), fmt.Sprintf("content %d of round %d\n", i, n))
		}
		b.StartTimer()
		r.take(nil)
	}
}
