package demo_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// kB reads a number from a file about a process.
func kB(b *testing.B, path, field string) int {
	b.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		b.Skipf("memory is not measured here: %v", err)
	}
	for l := range strings.Lines(string(raw)) {
		if f := strings.Fields(l); len(f) > 1 && f[0] == field+":" {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("no %s in %s", field, path)
	return 0
}

// BenchmarkStart starts a demo agent and waits for its prompt; memory is what it has for itself alone after an answer.
func BenchmarkStart(b *testing.B) {
	s := newStage(b)
	var took []time.Duration
	anon := 0
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		spec := thread.LaunchSpec{Dir: s.dir, Env: s.env}
		l, err := s.agent.Launch(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		id := thread.ID(fmt.Sprint(i))
		one, err := s.all.Start(b.Context(), thread.SessionSpec{Thread: id, Agent: "demo", Launch: l, Cols: 80, Rows: 24})
		if err != nil {
			b.Fatal(err)
		}
		r := &run{Session: s.all.Get(id), t: b, id: l.Session}
		r.state(thread.StateIdle)
		took = append(took, time.Since(begin))
		r.send("what is in this project?")
		r.state(thread.StateDone)
		anon = max(anon, kB(b, fmt.Sprintf("/proc/%d/smaps_rollup", one.PID()), "Pss_Anon"))
		if err := one.Stop(b.Context(), time.Second); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-start-p50")
	b.ReportMetric(float64(anon)/1024, "MB-own-most")
}
