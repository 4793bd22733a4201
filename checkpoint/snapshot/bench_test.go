package snapshot_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkTakeUnchanged measures a snapshot when nothing changed, beside `git status`.
func BenchmarkTakeUnchanged(b *testing.B) {
	for _, n := range []int{200, 2000, 10000} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			r := newRepo(b, b.TempDir())
			r.Fill(n)
			snap := r.Take(nil)
			var ours, theirs []time.Duration
			for b.Loop() {
				start := time.Now()
				r.Take(&snap)
				ours = append(ours, time.Since(start))
				start = time.Now()
				r.Git("status", "--porcelain")
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
	r.Write("a", "a")
	r.CommitAll("first")
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		for i := range 500 {
			r.Write(fmt.Sprintf("new%d", i), fmt.Sprintf("content %d of round %d\n", i, n))
		}
		b.StartTimer()
		r.Take(nil)
	}
}
