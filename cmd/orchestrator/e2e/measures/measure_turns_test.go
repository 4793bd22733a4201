package measures

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// measureTurns gives every live thread three prompts at once, with 1, 10, 50 and 100 threads that share a folder or
// have worktrees of their own, and says how long a turn takes: from its prompt's first key, and from its acceptance,
// until its checkpoint is durable. MEASURE_THREADS picks other numbers, such as "10,100".
func measureTurns(t *testing.T) {
	counts := []int{1, 10, 50, 100}
	if picked := os.Getenv("MEASURE_THREADS"); picked != "" {
		counts = nil
		for _, s := range strings.Split(picked, ",") {
			var n int
			if _, err := fmt.Sscan(s, &n); err != nil {
				t.Fatalf("MEASURE_THREADS: %v", err)
			}
			counts = append(counts, n)
		}
	}
	for _, how := range []struct {
		name  string
		apart bool
	}{{"shared", false}, {"apart", true}} {
		for _, n := range counts {
			t.Run(fmt.Sprintf("%s %d", how.name, n), func(t *testing.T) {
				r := e2e.NewRig(t)
				turnsAtOnce(t, r, n, how.apart)
			})
		}
	}
}

// turnTimes are when a prompt got where, by the server's clock.
type turnTimes struct{ typing, open, durable time.Time }

func turnsAtOnce(t *testing.T, r *e2e.Rig, n int, apart bool) {
	r.Ok("threads")
	cl := r.Client()
	var ids []thread.ID
	for i := range n {
		s, err := api.New.Do(t.Context(), cl, thread.NewRequest{
			Agent: "demo", Label: fmt.Sprintf("live %d", i), Worktree: apart, Flags: thread.Flags{PermissionMode: "auto"}, Prompt: "read README.md",
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	for _, id := range ids {
		e2e.Await(t, "the first turn of "+string(id), func() bool {
			s, err := api.Status.Do(t.Context(), cl, api.Ref{Thread: string(id)})
			if err != nil {
				t.Fatal(err)
			}
			return s.Turn == 1 && s.State.State != thread.StateWorking
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := api.Events.Open(ctx, cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	asks := []string{"write own-%d.txt: a line", "list files", "write own-%d.txt: another line"}
	want := n * len(asks)
	times, accepted, missed := map[thread.PromptID]turnTimes{}, map[thread.PromptID]time.Time{}, 0
	var following sync.WaitGroup
	following.Go(func() { missed = followTurns(events, want, times) })

	pid := r.ServerPID()
	cpuBefore, gitBefore := cpusOf(t, pid)
	begin := time.Now()
	var asking sync.WaitGroup
	var mu sync.Mutex // guards accepted
	for i, id := range ids {
		asking.Go(func() {
			for _, text := range asks {
				p, err := api.Ask.Do(t.Context(), cl, api.AskRequest{Thread: string(id), Text: strings.ReplaceAll(text, "%d", fmt.Sprint(i))})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				accepted[p.ID] = p.Accepted
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	asked := time.Since(begin)
	done := make(chan struct{})
	go func() { following.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(3 * e2e.Patience):
		cancel()
		<-done
		t.Errorf("only %d of %d prompts were heard of", len(times), want)
	}
	whole := time.Since(begin)
	cpu, git := cpusOf(t, pid)
	cpu, git = cpu-cpuBefore, git-gitBefore
	var typed, sinceAccepted, keys, model []time.Duration
	for id, at := range times {
		if at.durable.IsZero() || at.typing.IsZero() || at.open.IsZero() {
			continue // its event was missed
		}
		typed = append(typed, at.durable.Sub(at.typing))
		keys = append(keys, at.open.Sub(at.typing))
		model = append(model, at.durable.Sub(at.open))
		sinceAccepted = append(sinceAccepted, at.durable.Sub(accepted[id]))
	}
	if len(typed) == 0 {
		t.Fatal("no turn was measured")
	}
	say := func(d []time.Duration) string {
		p50, p95 := e2e.Percentile(d, 50), e2e.Percentile(d, 95)
		return fmt.Sprintf("p50 %v p95 %v max %v (p95 %.1f× p50)",
			p50.Round(time.Millisecond), p95.Round(time.Millisecond), e2e.Percentile(d, 100).Round(time.Millisecond), float64(p95)/float64(p50))
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Log(err)
	}
	t.Logf("%d threads, %d turns in %v (accepted in %v), server CPU %v a turn, git's %v, %d events missed, load %s\n"+
		"from the first key: %s\n  typing: %s\n  from open on: %s\nfrom acceptance: %s",
		n, len(typed), whole.Round(time.Millisecond), asked.Round(time.Millisecond), (cpu / time.Duration(want)).Round(time.Millisecond), (git / time.Duration(want)).Round(time.Millisecond), missed,
		strings.TrimSpace(string(load)), say(typed), say(keys), say(model), say(sinceAccepted))
}

// followTurns notes when prompts get where until a number of them is answered. It returns how many events it missed.
func followTurns(events <-chan thread.Event, want int, times map[thread.PromptID]turnTimes) (missed int) {
	var last int64
	answered := 0
	for e := range events {
		if last > 0 && e.Seq > last+1 {
			missed += int(e.Seq - last - 1)
		}
		last = e.Seq
		p := e.Prompt
		if p == nil {
			continue
		}
		at := times[p.ID]
		switch p.State {
		case thread.PromptTyping:
			at.typing = e.At
		case thread.PromptOpen:
			if at.open.IsZero() {
				at.open = e.At
			}
		case thread.PromptAnswered:
			if at.durable.IsZero() {
				answered++
				at.durable = e.At
			}
		case thread.PromptQueued:
		default: // nothing more comes of it
			answered++
		}
		times[p.ID] = at
		if answered == want {
			return missed
		}
	}
	return missed
}
