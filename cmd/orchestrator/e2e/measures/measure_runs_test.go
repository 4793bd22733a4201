package measures

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

// TestMeasureRuns measures how long it takes from the call that asks for a run until its process has been started and
// has its prompt, as the record of the execution says: in a folder without a repository, in one with it, and in a worktree
// of its own.
func TestMeasureRuns(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures; `MEASURE=1 go test -v -count=1 -run TestMeasureRuns ./cmd/orchestrator/e2e/measures` runs it")
	}
	for _, where := range []string{"no repository", "in place", "worktree"} {
		r := e2e.NewRigApart(t)
		if where == "no repository" {
			if err := os.RemoveAll(filepath.Join(r.Project, ".git")); err != nil {
				t.Fatal(err)
			}
		}
		r.Ok("threads")
		cl := r.Client()
		inPlace := where != "worktree"
		var calls, starts, given []time.Duration
		for n := range 40 {
			begin := time.Now()
			s, err := api.StartRun.Do(t.Context(), cl, thread.NewRequest{
				Agent: "command", Flags: thread.Flags{Program: []string{"cat"}}, Label: fmt.Sprint("run ", n), Prompt: "hello", InPlace: inPlace,
				Once: thread.Once{On: true, Dispose: "drop"},
			})
			if err != nil {
				t.Fatal(err)
			}
			calls = append(calls, time.Since(begin))
			var x work.Execution
			e2e.Await(t, "the run's end", func() bool {
				x, err = api.Execution.Do(t.Context(), cl, api.ExecutionRef{Execution: s.Run.Execution})
				return err == nil && x.State.Final()
			})
			if x.State != work.Completed {
				t.Fatalf("%s: %s", x.State, x.Reason)
			}
			list, err := api.ExecutionEvents.Do(t.Context(), cl, api.ExecutionEventsRequest{Execution: x.Name, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if e.State == work.Running {
					given = append(given, e.At.Sub(x.Created))
				}
			}
			starts = append(starts, x.Started.Sub(x.Created))
		}
		t.Logf("%s, p50 of 40: the call %v, from its row to the process's row %v, to the process that runs %v",
			where, e2e.Percentile(calls, 50), e2e.Percentile(starts, 50), e2e.Percentile(given, 50))
	}
}
