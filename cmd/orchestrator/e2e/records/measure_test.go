package records

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
		{second, func() error { return ignore(api.HistoryBundles.Do(ctx, cl, record.ProducedRequest{Limit: 10})) }, []string{"history", "bundles"}},
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
	// writers is how many executions are written at once: they share commits.
	writers = 64
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
	todo := make(chan int)
	errs := make(chan error, writers)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for i := range todo {
				if err := fillOne(t, s, i, n); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	var first error
	for i := 0; i < n && first == nil; i++ {
		select {
		case todo <- i:
		case first = <-errs:
		}
	}
	close(todo)
	all.Wait()
	close(errs)
	for err := range errs {
		first = errors.Join(first, err)
	}
	return first
}

// fillOne writes an execution. Each has a word of its own, each 1000th a word that is rare, and each 500th type is rare.
func fillOne(t *testing.T, s *workdb.Store, i, n int) error {
	t.Helper()
	ctx, at := t.Context(), time.Now().Add(-time.Duration(n-i)*time.Minute)
	x := work.Execution{ID: thread.NewID[work.ID](), Kind: work.KindHand, Name: fmt.Sprintf("h-%d", i), State: work.Running, Created: at, Started: at, Agent: []string{"claude", "codex", "demo"}[i%3],
		Type: []string{"debugger", "implementor", "reviewer", "planner", "tester"}[i%5], Model: []string{"small", "large", "huge"}[i%3], Session: fmt.Sprintf("work-%d", i%200), Task: fmt.Sprintf("task %d", i%5000),
		Scope: fmt.Sprintf("look at part %d of the search w%d", i%97, i), Bundle: fmt.Sprintf("bundle-%03d", i%500), Context: 3000}
	if i%500 == 0 {
		x.Type = "rare"
	}
	asked := "Do what is asked of you in part after part of the work. " + x.Scope
	if i%1000 == 777 {
		asked += " zebra"
	}
	events := []work.Event{{At: at, Kind: work.KindGiven, Text: asked}}
	for e := range eventsEach - 4 {
		events = append(events, work.Event{At: at, Kind: string(thread.RunTool), Text: fmt.Sprintf(`Read {"file_path":"lib/f%d.ts"}`, e)})
	}
	x, err := s.Add(ctx, x, events...)
	if err != nil {
		return err
	}
	state := work.Completed
	if i%7 == 0 {
		state = work.Failed
	}
	x, err = s.Change(ctx, x.ID, x.Fence, func(x *work.Execution) error {
		x.State, x.Ended, x.Reason, x.Answer = state, at.Add(time.Minute), "as it went", "All of it is done."
		x.Usage = thread.Usage{Input: 5000, CacheRead: 20_000, Output: 600, CostUSD: .03, Priced: true}
		return nil
	}, work.Event{At: at, Kind: work.KindSaid, Text: "All of it is done."})
	if err != nil {
		return err
	}
	err = s.Allocate(ctx, x.ID, []work.Allocation{{Type: work.ItemFile, Source: fmt.Sprintf("lib/f%d.ts", i%500), Tokens: 3, Included: true, Bundle: x.Bundle},
		{Type: work.ItemReference, Source: "spec.md", Tokens: 2000, Included: true}})
	if err != nil {
		return err
	}
	_, err = s.AddOutputs(ctx, x.ID, []work.Output{{Type: work.OutputDeliverable, Path: fmt.Sprintf("lib/f%d.ts", i%2000), Content: fmt.Appendf(nil, `{"file_path":"lib/f%d.ts","lines_added":%d,"lines_modified":0}`, i%2000, i%50)}})
	return err
}
