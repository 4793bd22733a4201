package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// printing prints lines of about 80 columns, as an agent's text.
const printing = `awk 'BEGIN { for (i = 0; i < %d; i++) print "text " i " a line of ordinary text, as agents print it all day long, now and then" }'`

// BenchmarkRun compares a run with the same lines in a terminal: lines a second, and processor time of ours a line.
func BenchmarkRun(b *testing.B) {
	const lines = 100_000
	measure := func(b *testing.B, once func()) {
		used := cpu(b)
		for b.Loop() {
			once()
		}
		n := float64(b.N) * lines
		b.ReportMetric(n/b.Elapsed().Seconds(), "lines/s")
		b.ReportMetric(float64(cpu(b)-used)/n, "cpu-ns/line")
	}
	b.Run("terminal", func(b *testing.B) {
		all := sessionsThatPrint(b, 0)
		measure(b, func() {
			h := start(b, all, "t", fmt.Sprintf(printing, lines))
			<-h.Done()
		})
	})
	b.Run("run", func(b *testing.B) {
		all := sessionsThatPrint(b, 0)
		measure(b, func() {
			r := runRaw(b, all, &talk{}, &keeper{}, `read p; `+fmt.Sprintf(printing, lines)+`; echo "end completed"`)
			if err := r.Send(context.Background(), "go"); err != nil {
				b.Fatal(err)
			}
			<-r.Done()
			if n := strings.Count(r.words(), "text("); n != lines {
				b.Fatalf("%d events", n)
			}
		})
	})
}

// BenchmarkFirstEvent measures how long after a process printed its first line it is reported.
func BenchmarkFirstEvent(b *testing.B) {
	all := sessionsThatPrint(b, 0)
	var delay, started, cancelled time.Duration
	for b.Loop() {
		began := time.Now()
		r := runIn(b, all, &talk{}, `read p; echo "text $(date +%s%N)"; read q`)
		started += time.Since(began)
		if err := r.Send(context.Background(), "go"); err != nil {
			b.Fatal(err)
		}
		await.Until(b, "the event", func() bool { return len(r.told()) > 0 })
		e := r.told()[0]
		var at int64
		if _, err := fmt.Sscan(e.Text, &at); err != nil || e.Kind != thread.RunText {
			b.Fatal(err, e)
		}
		delay += e.At.Sub(time.Unix(0, at))
		began = time.Now()
		if err := r.Stop(context.Background(), 0); err != nil {
			b.Fatal(err)
		}
		cancelled += time.Since(began)
	}
	b.ReportMetric(float64(delay.Microseconds())/float64(b.N), "us-to-event")
	b.ReportMetric(float64(started.Microseconds())/float64(b.N), "us-to-start")
	b.ReportMetric(float64(cancelled.Microseconds())/float64(b.N), "us-to-stop")
}
