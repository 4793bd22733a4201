package crashes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// acked collects the checkpoints that the server said are durable.
type acked struct {
	// mu guards ids.
	mu  sync.Mutex
	ids map[thread.ID]map[thread.CheckpointID]bool
}

func (a *acked) follow(events <-chan thread.Event) {
	for e := range events {
		if e.Checkpoint == nil {
			continue
		}
		a.mu.Lock()
		of := a.ids[e.ThreadID]
		if of == nil {
			of = map[thread.CheckpointID]bool{}
			a.ids[e.ThreadID] = of
		}
		of[e.Checkpoint.ID] = true
		a.mu.Unlock()
	}
}

func (a *acked) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, of := range a.ids {
		n += len(of)
	}
	return n
}

// TestServerKilled kills the whole server under load, again and again: every checkpoint that it
// acknowledged is there afterwards, and no thread is shown as something it is not.
func TestServerKilled(t *testing.T) {
	e2e.ManyStarts(t)
	rounds, threads := e2e.FromEnv(t, "KILL_ROUNDS", 3), e2e.FromEnv(t, "KILL_THREADS", 4)
	r := e2e.NewRig(t)
	p := r.Claimed()
	random := rand.New(rand.NewPCG(1, 2))
	a := &acked{ids: map[thread.ID]map[thread.CheckpointID]bool{}}
	var starts []time.Duration
	for round := range rounds {
		begin := time.Now()
		r.Ok("threads")
		starts = append(starts, time.Since(begin))
		if took := time.Since(begin); took > time.Second {
			t.Logf("round %d: the start at %s took %v", round, begin.Format(time.TimeOnly), took)
		}
		cl := client.New(p.Socket)
		a.check(t, cl, round)
		begun(t, cl, threads)
		ctx, cancel := context.WithCancel(t.Context())
		events, err := api.Events.Open(ctx, cl, api.None{})
		if err != nil {
			t.Fatal(err)
		}
		var following sync.WaitGroup
		following.Go(func() { a.follow(events) })
		var sending sync.WaitGroup
		before := a.count()
		for _, s := range e2e.List(t, cl) {
			sending.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					p, err := api.Ask.Do(ctx, cl, api.AskRequest{Thread: string(s.ID), Text: fmt.Sprintf("run echo %d-%d", round, n)})
					if err != nil {
						return
					}
					for p.State == thread.PromptQueued { // as people do: they do not pile up
						time.Sleep(10 * time.Millisecond)
						if p, err = api.Prompt.Do(ctx, cl, api.PromptRef{Thread: string(s.ID), ID: p.ID}); err != nil {
							return
						}
					}
					time.Sleep(time.Duration(s.Turn%7) * time.Millisecond)
				}
			})
		}
		e2e.Await(t, "checkpoints to be acknowledged", func() bool { return a.count() > before+threads })
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond) // somewhere in the middle
		info, err := api.Info.Do(t.Context(), cl, api.InfoRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(info.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		following.Wait()
		cancel()
		sending.Wait()
		cl.Close()
	}
	r.Ok("threads")
	cl := client.New(p.Socket)
	defer cl.Close()
	a.check(t, cl, rounds)
	slices.Sort(starts)
	t.Logf("%d kills with %d threads: %d acknowledged checkpoints, all there; start until the threads are listed: median %v, the longest %v",
		rounds, threads, a.count(), starts[len(starts)/2], starts[max(0, len(starts)-5):])
}

// begun brings the threads back that the last round interrupted, and starts those that are missing.
func begun(t *testing.T, cl *client.Client, threads int) {
	t.Helper()
	if _, err := api.ResumeAll.Do(t.Context(), cl, api.ResumeRequest{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	for n := len(e2e.List(t, cl)); n < threads; n++ {
		_, err := api.New.Do(t.Context(), cl, thread.NewRequest{
			Agent: "demo", Label: fmt.Sprintf("load %d", n), Flags: thread.Flags{PermissionMode: "auto"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// check looks for every acknowledged checkpoint, and for threads that are shown wrong.
func (a *acked) check(t *testing.T, cl *client.Client, round int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range e2e.List(t, cl) {
		if s.State.State.Live() || s.Execution != nil {
			t.Fatalf("round %d: %s is shown as %s after its process was killed", round, s.Name, s.State.State)
		}
		stored := map[thread.CheckpointID]bool{}
		all, err := api.Timeline.Do(t.Context(), cl, api.TimelineRequest{Thread: string(s.ID), Page: thread.Page{Limit: 1 << 20}})
		if err != nil {
			t.Fatalf("round %d: timeline of %s: %v", round, s.Name, err)
		}
		for _, cp := range all {
			stored[cp.ID] = true
		}
		for id := range a.ids[s.ID] {
			if !stored[id] {
				t.Fatalf("round %d: %s lost the checkpoint %s, which was acknowledged", round, s.Name, id)
			}
		}
	}
}
