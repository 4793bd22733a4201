package work_test

import (
	"encoding/json"
	"errors"
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
		Allocations: []work.Allocation{{N: 1, Source: "a.md", Bundle: "bundle-001"}},
		Outputs:     []work.Output{{N: 1, Type: work.OutputInsight, Content: json.RawMessage(`"x"`)}},
	}
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
		"another piece": {Bundle: &work.KeptBundle{Bundle: work.Bundle{ID: "b"}}, Pieces: map[string][]byte{"00": []byte("x")}},
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
