package records

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/orchestration"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// executions returns all of a work session, by the page.
func executions(t *testing.T, r *e2e.Rig, session string) (all []work.Row) {
	t.Helper()
	r.Ok("session", "show", session) // starts the server
	q := record.QueryExecutions{Session: session, Limit: 500}
	for {
		page, err := orchestration.Query(t.Context(), r.Client(), q)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page...); len(page) < q.Limit {
			return all
		}
		q.Before = page[len(page)-1].ID
	}
}

// outputsOf returns all that came of a work session, by the page.
func outputsOf(t *testing.T, r *e2e.Rig, session string) (all []work.Output) {
	t.Helper()
	q := record.QueryOutputs{Session: session, Limit: 500}
	for {
		page, err := orchestration.QueryOutputs(t.Context(), r.Client(), q)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page...); len(page) < q.Limit {
			return all
		}
		q.Before = page[len(page)-1].N
	}
}

// TestRecordKilled kills the server while executions by hand are written down and completed with deliverables, and while a
// run works: what was confirmed is there, once, nothing is half there, and no deliverable is without its execution. More
// rounds with KILL_ROUNDS.
func TestRecordKilled(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := withFiles(t)
	r.Ok("session", "init", "killed", "--as", "k")
	rounds := e2e.FromEnv(t, "KILL_ROUNDS", 3)
	const writers, each = 3, 4
	begun, ended := map[string]bool{}, map[string]bool{}
	var mu sync.Mutex
	for round := range rounds {
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for n := range each {
					name := fmt.Sprintf("k-%d-%d-%d", round, w, n)
					if r.Run("exec", "init", "work of "+name, "--as", name, "--type", "killed", "--session", "k").Code != 0 {
						continue
					}
					mu.Lock()
					begun[name] = true
					mu.Unlock()
					if r.Run("exec", "complete", name, "--message", "done "+name, "--deliverables", "lib/vector-search.ts,tests/vector-search.test.ts").Code == 0 {
						mu.Lock()
						ended[name] = true
						mu.Unlock()
					}
				}
			})
		}
		writing.Go(func() {
			r.Run("run", "--once", "-a", "demo", "--session", "k", "--detach", "write run.txt: one #slow:50ms")
		})
		pid := r.ServerPID()
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond) // a kill may come at any time
		_ = syscall.Kill(pid, syscall.SIGKILL)
		writing.Wait()
	}
	var rows []work.Row
	e2e.Await(t, "the runs to end", func() bool {
		rows = executions(t, r, "k")
		return !slices.ContainsFunc(rows, func(x work.Row) bool { return x.Kind == work.KindRun && !x.State.Final() })
	})
	known := map[string]work.Row{}
	for _, x := range rows {
		if _, twice := known[x.Execution]; twice {
			t.Errorf("%s is there twice", x.Execution)
		}
		known[x.Execution] = x
	}
	for name := range begun {
		if known[name].Execution == "" {
			t.Errorf("%s was confirmed and is lost", name)
		}
	}
	for name := range ended {
		if known[name].Status != "completed" || known[name].Message != "done "+name {
			t.Errorf("%s was completed and is %+v", name, known[name])
		}
	}
	outputs := map[string][]string{}
	for _, o := range outputsOf(t, r, "k") {
		if known[o.Execution].Execution == "" {
			t.Errorf("output %d is of %s, which there is not", o.N, o.Execution)
		}
		outputs[o.Execution] = append(outputs[o.Execution], o.Path)
	}
	for name, x := range known {
		slices.Sort(outputs[name])
		if x.Kind == work.KindHand && x.Status == "completed" && !slices.Equal(outputs[name], []string{"lib/vector-search.ts", "tests/vector-search.test.ts"}) {
			t.Errorf("%s has completed with %v", name, outputs[name])
		}
	}
	t.Logf("%d rounds: %d begun, %d completed, %d rows", rounds, len(begun), len(ended), len(rows))
}
