package measures

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestMeasureStored says how long a server takes until it has listed its threads, and how much of the processors its
// process and the client's need, how long the list and the first picture of the screen then take, with none, 1,000 and
// 5,000 of them stored, by turns in one run; then the same where all work in one folder. MEASURE_BESIDE names the program
// of another build, which is measured by turns with this one.
func TestMeasureStored(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures; `MEASURE=1 go test -v -count=1 -run TestMeasureStored ./cmd/orchestrator/e2e/measures` runs it")
	}
	type measured struct {
		threads                             int
		shared                              bool
		beside                              string
		rig                                 *e2e.Rig
		starts, work, lists, json, pictures []time.Duration
	}
	var cases []measured
	for _, c := range []measured{{threads: 0}, {threads: 1000}, {threads: 5000}, {threads: 5000, shared: true}} {
		cases = append(cases, c)
		if c.beside = os.Getenv("MEASURE_BESIDE"); c.beside != "" {
			cases = append(cases, c)
		}
	}
	for i := range cases {
		cases[i].rig = e2e.NewRig(t)
		if cases[i].beside != "" {
			cases[i].rig.Program = cases[i].beside
		}
		storeThreads(t, cases[i].rig, cases[i].threads, cases[i].shared)
	}
	for range 5 {
		for i := range cases {
			c := &cases[i]
			begin := time.Now()
			list := c.rig.Command("threads")
			if out, err := list.CombinedOutput(); err != nil {
				t.Fatalf("threads: %v\n%s", err, out)
			}
			c.starts = append(c.starts, time.Since(begin))
			c.work = append(c.work, list.ProcessState.UserTime()+list.ProcessState.SystemTime()+cpuOf(t, c.rig.ServerPID()))
			begin = time.Now()
			c.rig.Ok("threads")
			c.lists = append(c.lists, time.Since(begin))
			begin = time.Now()
			c.rig.Ok("threads", "--json")
			c.json = append(c.json, time.Since(begin))
			begin = time.Now()
			s := c.rig.Open(80, 24)
			if c.threads > 0 {
				s.See("stored")
			} else {
				s.See("threads")
			}
			c.pictures = append(c.pictures, time.Since(begin))
			if c.threads == 0 { // the welcome
				s.See("Later")
				s.Press("\x1b")
				s.See("n new")
			}
			s.Press("q")
			s.End()
			c.rig.Ok("stop")
		}
	}
	empty, idle := e2e.Percentile(cases[0].starts, 50), e2e.Percentile(cases[0].work, 50)
	for _, c := range cases {
		start, work := e2e.Percentile(c.starts, 50), e2e.Percentile(c.work, 50)
		t.Logf("%s%d threads stored, one folder %v: started and listed in %v (%.2f times an empty start), with %v of the processors (%.2f times), listed again in %v, as JSON in %v, on the screen in %v (medians)",
			c.beside+" ", c.threads, c.shared, start, float64(start)/float64(empty), work, float64(work)/float64(idle),
			e2e.Percentile(c.lists, 50), e2e.Percentile(c.json, 50), e2e.Percentile(c.pictures, 50))
	}
}

// storeThreads puts threads with one checkpoint each into the store of a project that no server serves.
func storeThreads(t *testing.T, r *e2e.Rig, n int, shared bool) {
	t.Helper()
	state := r.Claimed().StateDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(state, "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(i int) error {
		now, id, dir := time.Now(), thread.NewID[thread.ID](), r.Project
		if !shared {
			dir = fmt.Sprintf("%s-%d", dir, i)
		}
		one := thread.Thread{ID: id, Name: thread.NewName(fmt.Sprintf("stored %d", i)), Agent: "demo", Dir: dir, Created: now, Updated: now}
		if err := store.CreateThread(context.Background(), one); err != nil {
			return err
		}
		_, err := store.PutCheckpoint(context.Background(), thread.Checkpoint{
			ID: thread.NewID[thread.CheckpointID](), Thread: id, Turn: 1, Kind: thread.KindTurn, Created: now, Prompt: "hello",
		}, thread.Delta{})
		return err
	}
	work := make(chan int)
	failed := make(chan error, 16)
	for range cap(failed) {
		go func() {
			var first error
			for i := range work {
				if err := put(i); err != nil && first == nil {
					first = err
				}
			}
			failed <- first
		}()
	}
	for i := range n {
		work <- i
	}
	close(work)
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}
