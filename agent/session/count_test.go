package session_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/session"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestProcesses ends an agent that has too many processes, wherever they went, and no other.
func TestProcesses(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are counted on Linux only")
	}
	all := session.New(session.Config{
		Rules: func(string) []agent.Rule { return nil }, Processes: 20, CountEvery: 20 * time.Millisecond,
	})
	t.Cleanup(func() {
		if err := all.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	few := start(t, all, "few", `i=0; while [ $i -lt 15 ]; do sleep 1000 & i=$((i+1)); done; echo ready; wait`)
	await.Until(t, "a few processes", func() bool { return few.shows("ready") })
	for _, c := range []struct{ name, script string }{
		{"children", `i=0; while [ $i -lt 30 ]; do sleep 1000 & i=$((i+1)); done; wait`},
		{"what left", `echo "first $(setsid env -i sleep 1000 >/dev/null & echo $!)."
			i=0; while [ $i -lt 30 ]; do (setsid env -i sleep 1000 &); i=$((i+1)); done; sleep 1000`},
		// Each starts the next until all is killed; bounded, should that fail.
		{"without end", `n=0; while [ $n -lt 3000 ]; do sleep 100 & n=$((n+1)); done`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, all, thread.ID(c.name), c.script)
			waitDone(t, h)
			h.mu.Lock()
			exits := h.exits
			h.mu.Unlock()
			if len(exits) != 1 || !strings.Contains(exits[0].Reason, "limits.processes allows 20") ||
				exits[0].Code == 0 || !exits[0].Limit {
				t.Errorf("it ended with %+v", exits)
			}
			if _, first, ok := strings.Cut(strings.Join(h.Screen(), ""), "first "); ok {
				pid, err := strconv.Atoi(first[:strings.IndexByte(first, '.')])
				if err != nil {
					t.Fatal(err)
				}
				if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
					t.Errorf("what left lives on: %v", err)
				}
			}
		})
	}
	if few.now() == thread.StateExited {
		t.Errorf("the one with few processes ended: %q", few.Screen())
	}
}
