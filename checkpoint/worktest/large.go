package worktest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Large fills a store with executions of all kinds, each with 20 events, an output and two pieces of context, in
// work sessions of a hundred.
func Large(t *testing.T, s work.Keeper, executions int) {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	words := strings.Fields("parser gateway budget terminal search index cache stream socket editor merge branch prompt token model window")
	kinds := []work.Kind{work.KindRun, work.KindTerminal, work.KindNative, work.KindNative, work.KindHand}
	var all []work.Whole
	flush := func() {
		t.Helper()
		if taken, err := s.Load(t.Context(), all); err != nil || len(taken) > 0 {
			t.Fatalf("%d taken: %v", len(taken), err)
		}
		all = nil
	}
	for i := range executions {
		session := fmt.Sprintf("session-%d", i/100)
		created := at.Add(time.Duration(i) * time.Minute)
		if i%100 == 0 {
			all = append(all, work.Whole{Session: &work.Session{Name: session, Scope: "a piece of work", Created: created, Updated: created,
				Status: work.SessionCompleted, Approval: work.ApproveSuggest}})
		}
		x := work.Execution{
			ID: work.ID(fmt.Sprintf("%016x", i)), Name: fmt.Sprintf("x-%d", i), Kind: kinds[i%5], State: work.Completed, Session: session,
			Thread: thread.ID(fmt.Sprintf("t%015x", i/20)), Agent: []string{"claude", "codex", "gemini"}[i%3], Type: fmt.Sprint("type", i%20),
			Model: fmt.Sprint("model", i%7), Bundle: fmt.Sprintf("bundle-%03d", i/50), Created: created, Started: created, Ended: created.Add(time.Minute),
			Scope: fmt.Sprintf("Fix the %s of the %s number%d", words[i%16], words[(i/16)%16], i), Given: 1, Said: 20,
			Answer: strings.Repeat("the answer in some words ", 20), Lost: work.PolicyAsk,
			Usage: thread.Usage{Input: 100, CacheRead: 1000, Output: 50, CostUSD: 0.01, Priced: true},
		}
		w := work.Whole{Execution: &x}
		for n := range 20 {
			e := work.Event{Seq: int64(n + 1), At: created, Attempt: 1, Kind: "text", Text: fmt.Sprint("a line of what the agent said, number ", n)}
			if n == 0 {
				e.Kind, e.Text = work.KindGiven, "what it was asked: "+strings.Repeat(words[(i/256)%16]+" ", 5)
			}
			if n == 19 {
				e.Kind = work.KindSaid
			}
			w.Events = append(w.Events, e)
		}
		path := fmt.Sprintf("lib/%s/file%d.go", words[i%16], i%5000)
		w.Outputs = []work.Output{{N: int64(i + 1), Type: work.OutputDeliverable, Path: path, Version: i/5000 + 1, Created: created,
			Content: json.RawMessage(`{"file_path":"x","lines_added":1}`)}}
		w.Allocations = []work.Allocation{{Type: work.ItemFile, Source: "a.md", Bundle: x.Bundle, Included: true}, {Type: work.ItemBriefing, Source: "b"}}
		if all = append(all, w); len(all) >= 1000 {
			flush()
		}
	}
	flush()
}

// Ask prints how long each question takes of a store that Large has filled, and fails if one takes longer than it may.
func Ask(t *testing.T, s work.Keeper, executions int) {
	t.Helper()
	ctx := t.Context()
	for name, ask := range questions(ctx, s, executions) {
		n := 0
		var took []time.Duration
		for range 5 {
			begin := time.Now()
			var err error
			if n, err = ask(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		limit := 100 * time.Millisecond
		if strings.HasPrefix(name, "stats") || name == "measure" {
			limit = time.Second
		}
		t.Logf("%-18s %6d rows, p50 %v", name, n, took[2].Round(10*time.Microsecond))
		if took[2] > limit {
			t.Errorf("%s takes %v, more than %v", name, took[2], limit)
		}
	}
}

// questions are what is asked of a store, by what they are about; each returns how many rows answer it.
func questions(ctx context.Context, s work.Keeper, executions int) map[string]func() (int, error) {
	seen := thread.ID(fmt.Sprintf("t%015x", executions/40))
	var many []work.ID
	for i := range 200 {
		many = append(many, work.ID(fmt.Sprintf("%016x", i*executions/200)))
	}
	recorded := func(q work.RecordQuery) func() (int, error) {
		return func() (int, error) { x, err := s.Recorded(ctx, q); return len(x), err }
	}
	outputs := func(q work.OutputQuery) func() (int, error) {
		return func() (int, error) { o, err := s.Outputs(ctx, q); return len(o), err }
	}
	out := map[string]func() (int, error){
		"newest":            recorded(work.RecordQuery{}),
		"session":           recorded(work.RecordQuery{Session: "session-3"}),
		"type":              recorded(work.RecordQuery{Type: "type7"}),
		"type and model":    recorded(work.RecordQuery{Type: "type7", Model: "model3", Agent: "codex"}),
		"rare agent":        recorded(work.RecordQuery{Agent: "nobody"}),
		"kind and state":    recorded(work.RecordQuery{Kinds: []work.Kind{work.KindNative}, States: []work.State{work.Failed}}),
		"bundle":            recorded(work.RecordQuery{Bundle: "bundle-005"}),
		"thread":            recorded(work.RecordQuery{Thread: seen}),
		"seen":              recorded(work.RecordQuery{Seen: &seen}),
		"until":             recorded(work.RecordQuery{Until: time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)}),
		"path":              recorded(work.RecordQuery{Path: "lib/parser/file0.go"}),
		"one word":          recorded(work.RecordQuery{Words: []string{"budget"}}),
		"a rare word":       recorded(work.RecordQuery{Words: []string{"number77"}}),
		"three words":       recorded(work.RecordQuery{Words: []string{"budget", "parser", "answer"}}),
		"words, never both": recorded(work.RecordQuery{Words: []string{"type1", "type2"}}),
		"common words":      recorded(work.RecordQuery{Words: []string{"answer", "file4999"}}),
		"words and session": recorded(work.RecordQuery{Words: []string{"answer", "words"}, Session: "session-1"}),
		"executions":        func() (int, error) { x, err := s.Executions(ctx, work.Query{}); return len(x), err },
		"open":              func() (int, error) { x, err := s.Open(ctx); return len(x), err },
		"outputs":           outputs(work.OutputQuery{}),
		"outputs session":   outputs(work.OutputQuery{Session: "session-3"}),
		"outputs type":      outputs(work.OutputQuery{AgentType: "type7", Types: []work.OutputType{work.OutputDeliverable}, Limit: 10}),
		"outputs path":      outputs(work.OutputQuery{Path: "lib/parser/file0.go"}),
		"outputs of one":    outputs(work.OutputQuery{Execution: "x-77"}),
		"outputs, no such":  outputs(work.OutputQuery{Types: []work.OutputType{work.OutputError}}),
		"outputs two types": outputs(work.OutputQuery{Types: []work.OutputType{work.OutputDeliverable, work.OutputInsight}}),
		"outputs of many":   outputs(work.OutputQuery{Of: many, Limit: 1000}),
		"best bundles": func() (int, error) {
			x, err := s.Stats(ctx, work.StatsQuery{By: work.StatByBundle, Best: 20})
			return len(x), err
		},
		"outputs seen": outputs(work.OutputQuery{By: &seen}),
		"sessions":     func() (int, error) { x, err := s.Sessions(ctx, work.SessionQuery{}); return len(x), err },
		"context":      func() (int, error) { x, err := s.Allocations(ctx, "000000000000004d"); return len(x), err },
		"measure":      func() (int, error) { m, err := s.Measure(ctx); return m.Events, err },
	}
	for _, by := range []work.StatBy{
		work.StatByAgent, work.StatByType, work.StatByModel, work.StatByBundle, work.StatBySession, work.StatByOrigin, work.StatByDay,
	} {
		out["stats by "+string(by)] = func() (int, error) { x, err := s.Stats(ctx, work.StatsQuery{By: by}); return len(x), err }
	}
	return out
}
