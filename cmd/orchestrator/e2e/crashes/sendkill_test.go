package crashes

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestSendsThroughKills has many clients send prompts to several threads at once, while agents and the server are
// killed and resumed: each prints the answer to its own prompt, or says why there is none. ORCHESTRATOR_ASKS=10x20 is
// ten threads with twenty clients each.
func TestSendsThroughKills(t *testing.T) {
	e2e.ManyStarts(t)
	threads, each := 3, 4
	if s := os.Getenv("ORCHESTRATOR_ASKS"); s != "" {
		if _, err := fmt.Sscanf(s, "%dx%d", &threads, &each); err != nil {
			t.Fatal(err)
		}
	}
	r := e2e.NewRig(t)
	var names []string
	for i := range threads {
		names = append(names, r.Demo(fmt.Sprint("asked ", i)))
	}
	var sending sync.WaitGroup
	var mu sync.Mutex // guards ends
	ends := map[string]int{}
	for i := range threads * each {
		sending.Go(func() {
			words := fmt.Sprintf("this is number %d of all", i)
			res := r.Run("send", names[i%threads], "say "+words, "--timeout", "5m")
			said := strings.TrimSpace(res.Stdout)
			end := "answered"
			switch {
			case res.Code == exitcode.OK && said == words:
			case res.Code != exitcode.OK && strings.TrimSpace(res.Stderr) != "" && strings.HasPrefix(words, said):
				end = fmt.Sprintf("exit %d", res.Code)
				t.Logf("%s: %s", words, strings.TrimSpace(res.Stderr))
			default:
				t.Errorf("%q: exit %d, %q, %q", words, res.Code, res.Stdout, res.Stderr)
			}
			mu.Lock()
			defer mu.Unlock()
			ends[end]++
		})
	}
	over := make(chan struct{})
	go func() { sending.Wait(); close(over) }()
	rnd := rand.New(rand.NewPCG(1, uint64(threads)))
	agents, servers := 0, 0
kill:
	for {
		select {
		case <-over:
			break kill
		case <-time.After(time.Duration(300+rnd.IntN(700)) * time.Millisecond): // any moment is right
		}
		if rnd.IntN(4) == 0 && servers < 1+each/4 {
			if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			servers++
		} else if agents < threads*each/4 {
			s := r.Status(names[rnd.IntN(threads)])
			if s.Execution != nil && s.Execution.PID > 0 && syscall.Kill(s.Execution.PID, syscall.SIGKILL) == nil {
				agents++
			}
		}
		for _, name := range names {
			if s := r.Status(name); !s.State.State.Live() {
				r.Run("resume", name) // it may be at it already
			}
		}
	}
	t.Logf("%d prompts, %d agents and %d servers killed: %v", threads*each, agents, servers, ends)
	if ends["answered"] == 0 || agents+servers == 0 {
		t.Error("nothing was answered, or nothing was killed")
	}
	by := map[thread.CheckpointID]string{}
	for _, name := range names {
		for _, p := range e2e.Get[[]thread.Prompt](r, "prompts", name, "--limit", "0") {
			if p.State != thread.PromptAnswered {
				continue
			}
			if other := by[p.Answer]; other != "" {
				t.Errorf("one answer for %q and %q", other, p.Text)
			}
			by[p.Answer] = p.Text
		}
	}
	if len(by) < ends["answered"] {
		t.Errorf("%d prompts are answered, %d clients printed an answer", len(by), ends["answered"])
	}
}
