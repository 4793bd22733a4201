package records

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// TestMeasureAnswers says how long each answer takes with 100,000 executions and 2 million events in the record: the call
// alone, and the whole verb, a process with its start and what it prints. MEASURE_RUNS is another number of executions.
func TestMeasureAnswers(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("SKIPPED: it measures; `MEASURE=1 go test -v -count=1 -timeout 1h -run TestMeasureAnswers ./cmd/orchestrator/e2e/records` runs it")
	}
	n := e2e.FromEnv(t, "MEASURE_RUNS", 100_000)
	r := e2e.NewRig(t)
	file := filepath.Join(r.Claimed().StateDir(), "work.db")
	s, err := workdb.Open(t.Context(), file, workdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := fill(t, s, n); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d executions with %d events: written in %v, %d MB", n, n*eventsEach, time.Since(begin).Round(time.Second), info.Size()>>20)
	begin = time.Now()
	r.Ok("threads")
	t.Logf("the server started in %v", time.Since(begin).Round(time.Millisecond))
	cl := client.NewBelow(r.Found().Dial, "")
	defer cl.Close()
	ctx := t.Context()
	ignore := func(_ any, err error) error { return err }
	for _, m := range []struct {
		most time.Duration
		call func() error
		args []string
	}{
		{tenth, func() error { return ignore(api.History.Do(ctx, cl, record.HistoryRequest{Limit: 21})) }, []string{"history"}},
		{tenth, func() error {
			return ignore(api.History.Do(ctx, cl, record.HistoryRequest{Words: "part search", Limit: 21}))
		}, []string{"history", "part", "search"}},
		{tenth, func() error {
			return ignore(api.History.Do(ctx, cl, record.HistoryRequest{Words: "w77777", Limit: 21}))
		}, []string{"history", "w77777"}},
		{tenth, func() error {
			return ignore(api.History.Do(ctx, cl, record.HistoryRequest{Words: "w777 zebra", Limit: 21}))
		}, []string{"history", "w777", "zebra"}},
		{tenth, func() error {
			return ignore(api.History.Do(ctx, cl, record.HistoryRequest{Path: "lib/f7.ts", Limit: 21}))
		}, []string{"history", "--file", "lib/f7.ts"}},
		{tenth, func() error { return ignore(api.HistoryContext.Do(ctx, cl, record.ContextRequest{Type: "debugger"})) }, []string{"history", "context", "debugger"}},
		{tenth, func() error {
			return ignore(api.HistoryContext.Do(ctx, cl, record.ContextRequest{Type: "rare", Limit: 3}))
		}, []string{"history", "context", "rare", "-n", "3"}},
		{tenth, func() error { return ignore(api.HistoryWho.Do(ctx, cl, record.WhoRequest{Of: "task 7"})) }, []string{"history", "who", "task 7"}},
		{tenth, func() error { return ignore(api.HistoryWho.Do(ctx, cl, record.WhoRequest{Of: "work-7"})) }, []string{"history", "who", "work-7"}},
		{tenth, func() error { return ignore(api.HistoryBundles.Do(ctx, cl, record.ProducedRequest{Limit: 20})) }, []string{"history", "bundles"}},
		{tenth, func() error { return ignore(api.HistoryTrace.Do(ctx, cl, record.TraceRequest{Ref: "h-777"})) }, []string{"history", "trace", "h-777"}},
		{tenth, func() error { return ignore(api.HistoryTrace.Do(ctx, cl, record.TraceRequest{Ref: "lib/f7.ts"})) }, []string{"history", "trace", "lib/f7.ts"}},
		{tenth, func() error { return ignore(api.HistoryTrace.Do(ctx, cl, record.TraceRequest{Ref: "77"})) }, []string{"history", "trace", "77"}},
		{tenth, func() error { return ignore(api.HistoryTrace.Do(ctx, cl, record.TraceRequest{Ref: "bundle-007"})) }, []string{"history", "trace", "bundle-007"}},
		{second, func() error { return ignore(api.Stats.Do(ctx, cl, record.StatsRequest{})) }, []string{"stats"}},
		{second, func() error { return ignore(api.Stats.Do(ctx, cl, record.StatsRequest{By: work.StatByDay})) }, []string{"stats", "--by", "day"}},
		{second, func() error { return ignore(api.Stats.Do(ctx, cl, record.StatsRequest{By: work.StatByBundle})) }, []string{"stats", "--by", "bundle"}},
		{second, func() error { return ignore(api.Stats.Do(ctx, cl, record.StatsRequest{By: work.StatBySession})) }, []string{"stats", "--by", "session"}},
		{tenth, func() error { return ignore(api.Stats.Do(ctx, cl, record.StatsRequest{Session: "work-7"})) }, []string{"stats", "--session", "work-7"}},
	} {
		var calls, verbs []time.Duration
		for range 7 {
			begin := time.Now()
			if err := m.call(); err != nil {
				t.Fatalf("%v: %v", m.args, err)
			}
			calls = append(calls, time.Since(begin))
			begin = time.Now()
			r.Ok(m.args...)
			verbs = append(verbs, time.Since(begin))
		}
		call := e2e.Percentile(calls, 50)
		t.Logf("%-32s call %8v, verb %8v (medians of 7)", strings.Join(m.args, " "), call.Round(100*time.Microsecond), e2e.Percentile(verbs, 50).Round(100*time.Microsecond))
		if call > m.most {
			t.Errorf("%v takes %v, the limit is %v", m.args, call, m.most)
		}
	}
}

const (
	tenth  = 100 * time.Millisecond
	second = time.Second
	// eventsEach is how many events an execution has.
	eventsEach = 20
	// batch is how many executions are written at once.
	batch = 500
)

// fill writes executions by hand, with events, outputs and context, in 200 work sessions with 500 bundles.
func fill(t *testing.T, s *workdb.Store, n int) error {
	t.Helper()
	ctx := t.Context()
	for i := range 200 {
		if _, err := s.AddSession(ctx, work.Session{Name: fmt.Sprintf("work-%d", i), Scope: "a piece of work", Status: work.SessionExecuting, Approval: work.ApproveSuggest}); err != nil {
			return err
		}
	}
	for i := range 500 {
		content := fmt.Appendf(nil, "content %d", i)
		hash := sum(content)
		_, err := s.PutBundle(ctx, work.KeptBundle{Bundle: work.Bundle{ID: fmt.Sprintf("bundle-%03d", i), AgentType: "debugger", Scope: "a piece of work", Created: time.Now(), Total: 3,
			Items: []work.BundleItem{{Type: work.ItemFile, Source: fmt.Sprintf("lib/f%d.ts", i), Tokens: 3}}}, Hash: sum(fmt.Appendf(nil, "bundle %d", i)), Pieces: []string{hash}, Sources: []string{hash}},
			map[string][]byte{hash: content})
		if err != nil {
			return err
		}
	}
	for from := 0; from < n; from += batch {
		var all []work.Whole
		for i := from; i < min(n, from+batch); i++ {
			all = append(all, filled(i, n))
		}
		taken, err := s.Load(ctx, all)
		if err != nil {
			return err
		}
		if len(taken) > 0 {
			return fmt.Errorf("%d executions were left out", len(taken))
		}
	}
	return nil
}

// filled is an execution. Each has a word of its own, each 1000th a word that is rare, and each 500th type is rare.
func filled(i, n int) work.Whole {
	at := time.Now().Add(-time.Duration(n-i) * time.Minute).UTC()
	x := work.Execution{ID: thread.NewID[work.ID](), Kind: work.KindHand, Name: fmt.Sprintf("h-%d", i), State: work.Completed, Created: at, Started: at, Ended: at.Add(time.Minute), Agent: []string{"claude", "codex", "demo"}[i%3],
		Type: []string{"debugger", "implementor", "reviewer", "planner", "tester"}[i%5], Model: []string{"small", "large", "huge"}[i%3], Session: fmt.Sprintf("work-%d", i%200), Task: fmt.Sprintf("task %d", i%5000),
		Scope: fmt.Sprintf("look at part %d of the search w%d", i%97, i), Bundle: fmt.Sprintf("bundle-%03d", i%500), Context: 3000, Answer: "All of it is done.", Given: 2, Said: eventsEach - 1,
		Usage: thread.Usage{Input: 5000, CacheRead: 20_000, Output: 600, CostUSD: .03, Priced: true}}
	if i%500 == 0 {
		x.Type = "rare"
	}
	if i%7 == 0 {
		x.State, x.Reason = work.Failed, "as it went"
	}
	asked := "Do what is asked of you in part after part of the work. " + x.Scope
	if i%1000 == 777 {
		asked += " zebra"
	}
	events := []work.Event{{Seq: 1, At: at, State: work.Running}, {Seq: 2, At: at, Kind: work.KindGiven, Text: asked}}
	for e := 3; e < eventsEach-1; e++ {
		events = append(events, work.Event{Seq: int64(e), At: at, Kind: string(thread.RunTool), Text: fmt.Sprintf(`Read {"file_path":"lib/f%d.ts"}`, e)})
	}
	events = append(events, work.Event{Seq: eventsEach - 1, At: at, Kind: work.KindSaid, Text: "All of it is done."}, work.Event{Seq: eventsEach, At: x.Ended, State: x.State})
	path, of := fmt.Sprintf("lib/f%d.ts", i%2000), x.Name
	return work.Whole{Execution: &x, Events: events,
		Allocations: []work.Allocation{{N: int64(2*i + 1), Execution: of, Type: work.ItemFile, Source: fmt.Sprintf("lib/f%d.ts", i%500), Tokens: 3, Included: true, Bundle: x.Bundle},
			{N: int64(2*i + 2), Execution: of, Type: work.ItemReference, Source: "spec.md", Tokens: 2000, Included: true}},
		Outputs: []work.Output{{N: int64(i + 1), Execution: of, Type: work.OutputDeliverable, Path: path, Created: x.Ended, Version: i/2000 + 1, Current: i+2000 >= n,
			Content: fmt.Appendf(nil, `{"file_path":%q,"lines_added":%d,"lines_modified":0}`, path, i%50)}}}
}
