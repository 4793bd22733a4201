package work_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

var wholeAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func wholeRun() work.Whole {
	return work.Whole{
		Execution: &work.Execution{ID: "0123456789abcdef", Name: "exec-001", Thread: "aaaaaaaaaaaaaaaa", State: work.Running, Attempt: 1,
			Session: "orch-1", Bundle: "bundle-001", Created: wholeAt, Said: 2},
		Events:      []work.Event{{Seq: 1, At: wholeAt, State: work.Running}, {Seq: 2, At: wholeAt, Kind: work.KindSaid, Text: "done"}},
		Allocations: []work.Allocation{{N: 1, Type: work.ItemFile, Source: "a.md", Bundle: "bundle-001"}},
		Outputs:     []work.Output{{N: 1, Type: work.OutputInsight, Content: json.RawMessage(`"x"`)}},
	}
}

func wholeFile(content string) work.Output {
	return work.Output{Type: work.OutputDeliverable, Path: "a.go", Version: 1, Content: json.RawMessage(content)}
}

// TestWholeCheck refuses rows of files that no store has.
func TestWholeCheck(t *testing.T) {
	t.Parallel()
	ok := wholeRun()
	if err := ok.Check(); err != nil {
		t.Fatal(err)
	}
	session := func(change func(*work.Session)) work.Whole {
		s := work.Session{Name: "orch-1", Status: work.SessionPlanning, Created: wholeAt}
		change(&s)
		return work.Whole{Session: &s}
	}
	run := func(change func(*work.Whole)) work.Whole {
		w := wholeRun()
		x := *w.Execution
		w.Execution = &x
		change(&w)
		return w
	}
	bundle := func(change func(*work.KeptBundle)) work.Whole {
		hash := work.PieceHash([]byte("x"))
		b := work.KeptBundle{Hash: strings.Repeat("01", 32), Pieces: []string{hash}, Sources: []string{""},
			Bundle: work.Bundle{ID: "bundle-001", Items: []work.BundleItem{{Source: "a.md", Tokens: 1}}}}
		change(&b)
		return work.Whole{Bundle: &b, Pieces: map[string][]byte{hash: []byte("x")}}
	}
	for _, w := range []work.Whole{session(func(*work.Session) {}), bundle(func(*work.KeptBundle) {}), run(func(w *work.Whole) { w.Outputs[0] = wholeFile(`{"lines_added":1}`) })} {
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
	}
	for name, w := range map[string]work.Whole{
		"nothing":           {},
		"two":               run(func(w *work.Whole) { w.Session = session(func(*work.Session) {}).Session }),
		"escapes in a name": run(func(w *work.Whole) { w.Execution.Name = "\x1b[31mx" }),
		"no name":           run(func(w *work.Whole) { w.Execution.Name = "" }),
		"id":                run(func(w *work.Whole) { w.Execution.ID = "../../etc" }),
		"kind":              run(func(w *work.Whole) { w.Execution.Kind = "god" }),
		"state":             run(func(w *work.Whole) { w.Execution.State = "done" }),
		"thread":            run(func(w *work.Whole) { w.Execution.Thread = "a/b" }),
		"a text of another": run(func(w *work.Whole) { w.Execution.Said = 3 }),
		"gap in events":     run(func(w *work.Whole) { w.Events[1].Seq = 3 }),
		"event's state":     run(func(w *work.Whole) { w.Events[0].State = "won" }),
		"large event":       run(func(w *work.Whole) { w.Events[1].Text = strings.Repeat("x", 3<<20) }),
		"large answer":      run(func(w *work.Whole) { w.Execution.Answer = strings.Repeat("x", 1<<20) }),
		"output type":       run(func(w *work.Whole) { w.Outputs[0].Type = "virus" }),
		"output no JSON":    run(func(w *work.Whole) { w.Outputs[0].Content = json.RawMessage(`{`) }),
		"session's status":  session(func(s *work.Session) { s.Status = "paid" }),
		"session's phase":   session(func(s *work.Session) { s.Phase = 6 }),
		"session no JSON":   session(func(s *work.Session) { s.Metadata = json.RawMessage(`{"a"`) }),
		"another's task": func() work.Whole {
			w := session(func(*work.Session) {})
			w.Tasks = []work.Task{{Session: "other"}}
			return w
		}(),
		"name like an id":           run(func(w *work.Whole) { w.Execution.Name = "0123456789abcdee" }),
		"no thread":                 run(func(w *work.Whole) { w.Execution.Thread = "" }),
		"author":                    run(func(w *work.Whole) { w.Execution.By = "../x" }),
		"parent":                    run(func(w *work.Whole) { w.Execution.Parent = "\x1b[2J" }),
		"policy":                    run(func(w *work.Whole) { w.Execution.Lost = "again" }),
		"disposal":                  run(func(w *work.Whole) { w.Execution.Lost, w.Execution.Dispose = work.PolicyAsk, "rm" }),
		"money back":                run(func(w *work.Whole) { w.Execution.Usage.CostUSD = -1000 }),
		"all money":                 run(func(w *work.Whole) { w.Execution.Usage.CostUSD = 1e300 }),
		"no money":                  run(func(w *work.Whole) { w.Execution.Usage.CostUSD = math.NaN() }),
		"tokens back":               run(func(w *work.Whole) { w.Execution.Usage.Output = -1 }),
		"all tokens":                run(func(w *work.Whole) { w.Execution.Usage.CacheRead = math.MaxInt64 }),
		"unknown back":              run(func(w *work.Whole) { w.Execution.Usage.Unknown = -1 }),
		"used before":               run(func(w *work.Whole) { w.Execution.Before.Input = -1 }),
		"depth":                     run(func(w *work.Whole) { w.Execution.Depth = -1 }),
		"fence":                     run(func(w *work.Whole) { w.Execution.Fence = math.MaxInt64 }),
		"priority":                  run(func(w *work.Whole) { w.Execution.Priority = math.MinInt }),
		"deadline":                  run(func(w *work.Whole) { w.Execution.Deadline = -1 }),
		"large model":               run(func(w *work.Whole) { w.Execution.Model = strings.Repeat("x", 1<<20) }),
		"large question":            run(func(w *work.Whole) { w.Execution.Question = &thread.Question{Text: strings.Repeat("x", 1<<20)} }),
		"version":                   run(func(w *work.Whole) { w.Outputs[0].Path, w.Outputs[0].Version = "a.go", math.MaxInt64 }),
		"version of no file":        run(func(w *work.Whole) { w.Outputs[0].Version = 1 }),
		"number of an output":       run(func(w *work.Whole) { w.Outputs[0].N = math.MaxInt64 }),
		"lines back":                run(func(w *work.Whole) { w.Outputs[0] = wholeFile(`{"lines_added":-1}`) }),
		"all lines":                 run(func(w *work.Whole) { w.Outputs[0] = wholeFile(`{"lines_added":99999999999999999999}`) }),
		"large output":              run(func(w *work.Whole) { w.Outputs[0].Content = json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`) }),
		"context back":              run(func(w *work.Whole) { w.Allocations[0].Tokens = -1 }),
		"type of context":           run(func(w *work.Whole) { w.Allocations[0].Type = "virus" }),
		"session's budget":          session(func(s *work.Session) { usd := -1.0; s.Budget.USD = &usd }),
		"session's policy":          session(func(s *work.Session) { s.Approval = "pay" }),
		"session's metadata":        session(func(s *work.Session) { s.Metadata = json.RawMessage(`[]`) }),
		"bundle without a hash":     bundle(func(b *work.KeptBundle) { b.Hash = "bundle-003" }),
		"bundle named by a hash":    bundle(func(b *work.KeptBundle) { b.Bundle.ID = strings.Repeat("ab", 32) }),
		"bundle's missing piece":    bundle(func(b *work.KeptBundle) { b.Pieces = nil }),
		"bundle's missing source":   bundle(func(b *work.KeptBundle) { b.Sources = nil }),
		"bundle's piece no hash":    bundle(func(b *work.KeptBundle) { b.Pieces[0] = "x" }),
		"bundle's tokens back":      bundle(func(b *work.KeptBundle) { b.Bundle.Items[0].Tokens = -1 }),
		"bundle's piece for others": bundle(func(b *work.KeptBundle) { b.Pieces[0] = "" }),
		"another piece":             {Bundle: &work.KeptBundle{Bundle: work.Bundle{ID: "b"}}, Pieces: map[string][]byte{"00": []byte("x")}},
	} {
		if err := w.Check(); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSettle holds that nothing of another place is waited for here, and that what was written by hand stays open.
func TestSettle(t *testing.T) {
	t.Parallel()
	later := wholeAt.Add(time.Hour)
	for _, c := range []struct {
		kind      work.Kind
		was, want work.State
		events    int
	}{
		{work.KindRun, work.Running, work.Lost, 3}, {work.KindRun, work.Queued, work.Cancelled, 3}, {work.KindRun, work.Completed, work.Completed, 2},
		{work.KindTerminal, work.Running, work.Lost, 3}, {work.KindNative, work.NeedsInput, work.Lost, 3},
		{work.KindHand, work.Deployed, work.Deployed, 2}, {work.KindRun, work.Lost, work.Lost, 2},
	} {
		w := wholeRun()
		w.Execution.Kind, w.Execution.State, w.Execution.Server, w.Execution.Lost = c.kind, c.was, "s", work.PolicyRetry
		w.Settle(later)
		x := w.Execution
		if x.State != c.want || len(w.Events) != c.events || x.Server != "" || c.events == 3 && (x.Lost != work.PolicyAsk || !x.Ended.Equal(later)) {
			t.Errorf("%s %s: %+v with %d events", c.kind, c.was, x, len(w.Events))
		}
		if err := w.Check(); err != nil {
			t.Errorf("%s %s: %v", c.kind, c.was, err)
		}
	}
}

// TestRename has what refers to a name follow it.
func TestRename(t *testing.T) {
	t.Parallel()
	w := wholeRun()
	w.Rename(map[string]string{"orch-1": "orch-1-2"}, map[string]string{"bundle-001": "bundle-001-2"})
	if w.Execution.Session != "orch-1-2" || w.Execution.Bundle != "bundle-001-2" || w.Allocations[0].Bundle != "bundle-001-2" {
		t.Errorf("%+v", w)
	}
	long := strings.Repeat("n", 64)
	if got := work.Another(long, 12); len(got) != 64 || !strings.HasSuffix(got, "-12") {
		t.Error(got)
	}
}

// TestBundleNamedByHash holds that no bundle is taken for another that has its name for a hash.
func TestBundleNamedByHash(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("ab", 32)
	for id, want := range map[string]error{hash: thread.ErrInvalid, "review": nil, "": nil} {
		if _, _, err := work.PutBundle(work.KeptBundle{Hash: hash, Bundle: work.Bundle{ID: id}}, nil, wholeAt); !errors.Is(err, want) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
