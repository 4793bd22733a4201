package work_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

func TestRow(t *testing.T) {
	at := time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)
	x := work.Execution{Name: "exec-001", ID: "0123456789abcdef", Kind: work.KindHand, Session: "orch-1", Agent: "demo", Type: "debugger",
		State: work.Running, Created: at, Started: at, Model: "large", Context: 15000}
	if r := work.RowOf(x); r.Status != "deployed" || r.Success != nil || r.Origin != work.OriginHand || r.Error != "" || r.Seconds != 0 {
		t.Errorf("one that works is %+v", r)
	}
	for state, want := range map[work.State]struct {
		status, failed string
		ok             bool
	}{
		work.Completed: {"completed", "", true}, work.Failed: {"failed", "why", false},
		work.Cancelled: {"failed", "why", false}, work.Lost: {"failed", "why", false},
	} {
		y := x
		y.State, y.Reason, y.Ended = state, "why", at.Add(90*time.Second)
		r := work.RowOf(y)
		if r.Status != want.status || r.Success == nil || *r.Success != want.ok || r.Error != want.failed || r.Took() != 90*time.Second {
			t.Errorf("%s: %+v", state, r)
		}
	}
	b, err := json.Marshal(work.RowOf(x))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"execution_id", "session_id", "agent_type", "deployed_at", "status", "scope", "context_token_count", "model",
		"final_message", "success", "error_message", "cost_usd"} {
		if !strings.Contains(string(b), `"`+name+`":`) {
			t.Errorf("%s has no %s", b, name)
		}
	}
	if !strings.Contains(string(b), `"cost_usd":null`) || strings.Contains(string(b), "tokens_in") {
		t.Errorf("what nobody has seen is known: %s", b)
	}
	if r := work.RowOf(work.Execution{State: work.Queued, Agent: "demo"}); r.Status != "queued" || r.AgentType != "demo" {
		t.Errorf("one that waits is %+v", r)
	}
}

func TestSpent(t *testing.T) {
	for _, c := range []struct {
		u    thread.Usage
		want string
	}{
		{thread.Usage{}, "-"},
		{thread.Usage{Input: 10}, "?"},
		{thread.Usage{Input: 10, Unknown: 1}, "?"},
		{thread.Usage{Input: 10, Priced: true, CostUSD: .12}, "$0.12"},
		{thread.Usage{Input: 10, Priced: true, CostUSD: .12, Unknown: 2}, "$0.12 + ?"},
		{thread.Usage{Input: 10, Priced: true}, "$0.00"},
	} {
		if got := work.SpentOf(c.u).Money(); got != c.want {
			t.Errorf("%+v is %s, want %s", c.u, got, c.want)
		}
	}
	s := work.SpentOf(thread.Usage{Input: 1, CacheRead: 2, CacheWrite: 4, Output: 8})
	if s.In != 7 || s.Cached != 2 || s.Out != 8 {
		t.Errorf("%+v", s)
	}
}
