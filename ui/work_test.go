package ui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// recorded has the server know of work: a session with tasks and executions of every kind, others, and what is in none.
func (r *rig) recorded() {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	usage := func(usd float64) thread.Usage {
		return thread.Usage{Input: 9000, CacheRead: 31_000, Output: 2400, CostUSD: usd, Priced: true}
	}
	row := func(name, kind string, x work.Execution) work.Row {
		x.ID, x.Name, x.Type, x.Session = work.ID(name), name, kind, "orch-2025-01-17-001"
		if x.Created.IsZero() {
			x.Created = ago(time.Hour)
		}
		return work.RowOf(x)
	}
	limit := 5.0
	const index, cause = "Write the index", "Find out why recall drops"
	open := record.SessionGlance{
		Session: work.Session{Name: "orch-2025-01-17-001", Created: ago(2 * time.Hour), Scope: "Implement vector search feature", Phase: work.PhaseExecute,
			Status: work.SessionExecuting, Approval: work.ApproveSuggest, Budget: thread.Budget{USD: &limit}},
		Sum:    work.Stat{Runs: 6, Open: 2, Completed: 3, Failed: 1, Usage: usage(2.13)},
		Queued: 1,
		Tasks: []work.Task{
			{Title: index, Status: work.TaskComplete, Body: "HNSW, with the distances of lib/types.ts"}, {Title: cause, Status: work.TaskInProgress},
			{Title: "Write the docs", Status: work.TaskPending},
		},
		Executions: []work.Row{
			row("exec-009", "task-implementor", work.Execution{Agent: "claude", State: work.Queued, Task: cause, Thread: "try-jwt-b7c1", By: "auth-feature-a3f2",
				Scope: "Raise ef_construction", Reason: "proceed? waits for you"}),
			row("exec-008", "systematic-debugger", work.Execution{Agent: "claude", Model: "claude-sonnet-4-5", State: work.Running, Task: cause, Thread: "auth-feature-a3f2",
				Started: ago(130 * time.Second), Scope: "Measure recall at 10", Usage: usage(0.41)}),
			row("sub-004", "Explore", work.Execution{Kind: work.KindNative, Agent: "claude", Model: "claude-haiku-4-5", State: work.Completed, Task: cause, Parent: "exec-008",
				Started: ago(100 * time.Second), Ended: ago(60 * time.Second), Scope: "where are distances computed", Answer: "in lib/distance.ts", Usage: usage(0.02)}),
			row("exec-003", "task-implementor", work.Execution{Agent: "codex", Model: "gpt-5.5", State: work.Completed, Task: index,
				Started: ago(time.Hour), Ended: ago(51 * time.Minute), Scope: "Implement HNSW algorithm", Answer: "done, tests pass", Usage: usage(1.6)}),
			row("exec-002", "task-implementor", work.Execution{Agent: "codex", State: work.Failed, Task: index, Reason: "the provider answered with status 529",
				Started: ago(70 * time.Minute), Ended: ago(69 * time.Minute), Scope: "Implement HNSW algorithm", Usage: usage(0.1)}),
			row("exec-001", "architect", work.Execution{Kind: work.KindHand, State: work.Completed, Started: ago(100 * time.Minute), Ended: ago(90 * time.Minute),
				Scope: "Decide on an algorithm", Answer: "HNSW: O(log n)", Context: 15_000}),
		},
	}
	closed := record.SessionGlance{
		Session: work.Session{Name: "work-001", Created: ago(50 * time.Hour), Scope: "Fix the login", Phase: work.PhaseConfirm, Status: work.SessionCompleted},
		Sum:     work.Stat{Runs: 4, Completed: 4, Usage: thread.Usage{Input: 100, Output: 5, Unknown: 1}},
	}
	loose := row("term-002", "", work.Execution{Kind: work.KindTerminal, Agent: "gemini", State: work.Running, Thread: "docs-f9a0", Started: ago(6 * time.Minute), Usage: usage(0.29)})
	loose.Session = ""
	r.srv.glance = record.Glance{Sessions: []record.SessionGlance{open, closed}, Loose: []work.Row{loose}}
	content := func(v any) json.RawMessage { b, _ := json.Marshal(v); return b }
	coverage := 85.0
	r.srv.page = record.Page{
		Row: open.Executions[3], Dir: "/work/project", Given: "Implement HNSW algorithm.\nUse the types of lib/types.ts.", Said: "HNSW is in lib/vector-search.ts.\nAll 212 tests pass.",
		Allocations: []work.Allocation{
			{Type: work.ItemFile, Source: "spec/requirements.md", Sections: []string{"Vector Search Requirements"}, Tokens: 1500, Included: true, Priority: work.Required},
			{Type: work.ItemReference, Source: "references/hnsw-algorithm.md", Tokens: 24_000, Included: true, Priority: work.Recommended},
			{Type: work.ItemShared, Source: "constitution.md", Tokens: 500, Priority: work.Required, Claimed: true},
		},
		Explained: &bundle.Explained{Items: []bundle.ExplainedItem{
			{Source: "spec/requirements.md", Sections: []string{"Vector Search Requirements"}, Verdict: bundle.Keep},
			{Source: "references/hnsw-algorithm.md", Verdict: bundle.Review, Advice: "take the sections that are needed"},
		}},
		Outputs: []work.Output{
			{N: 42, Type: work.OutputDeliverable, Path: "lib/vector-search.ts", Version: 2, Content: content(work.Deliverable{Path: "lib/vector-search.ts", Added: 150, Deleted: 3,
				Validation: &work.Validation{Format: work.Pass, Tests: work.Pass, Coverage: &coverage}})},
			{N: 43, Type: work.OutputInsight, Content: content("HNSW provides O(log n) search complexity"), Metadata: work.OutputMetadata{Claimed: true}},
			{N: 44, Type: work.OutputError, Content: content("recall \x1b[31mdrops\x1b[0m below 0.9\nin the long tail")},
		},
	}
	r.srv.page.Row.Bundle, r.srv.page.Row.Context = "bundle-001", 26_000
}

// proposed has a thread ask whether its queued execution may start.
func (r *rig) proposed() {
	s := r.srv.find("try-jwt-b7c1")
	s.Once.On, s.Execution = true, nil
	s.Run = &thread.RunStatus{Execution: "exec-009", State: "queued", Asks: true}
	s.State = thread.StateReport{State: thread.StateApproval, Since: time.Now().Add(-time.Minute), Question: &thread.Question{
		ID: thread.ProceedID("exec-009"), Kind: thread.QuestionPermission, Text: "proceed?", Since: time.Now().Add(-time.Minute),
		About: "exec-009 (task-implementor): Raise ef_construction; at least 1.2k tokens and an answer of about 2.0k, $0.04; $2.87 of $5.00 left of orch-2025-01-17-001",
		Choices: []thread.Choice{{Text: "start it", Means: thread.Approve}, {Text: "start it, and all that follows", Means: thread.ApproveAlways},
			{Text: "cancel it", Means: thread.Deny}},
	}}
	s.Seq = 1000
	r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
}

// glances returns what was asked of the record.
func (r *rig) glances() []record.OverviewRequest {
	r.srv.mu.Lock()
	defer r.srv.mu.Unlock()
	return r.srv.glances
}

// TestWorkIsFollowed: the view asks once when it is opened, then for what events name, all of it at most once a second, and
// nothing while it is closed or while nothing happens.
func TestWorkIsFollowed(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.recorded()
		touch := func(names ...string) {
			r.event(thread.Event{Kind: thread.EventRecord, Record: &thread.Recorded{Sessions: names}})
		}
		touch()
		if n := len(r.glances()); n != 0 {
			t.Fatalf("asked %d times while it is closed", n)
		}
		r.keys("W")
		r.must("2 work sessions", "orch-2025-01-17-001", "3 execute", "exec-008", "$2.13 of $5.00")
		if g := r.glances(); len(g) != 1 || g[0].Only != nil {
			t.Errorf("asked %+v", g)
		}
		r.srv.glance.Sessions[0].Session.Phase = work.PhaseValidate
		touch("orch-2025-01-17-001")
		r.must("4 validate")
		if g := r.glances(); len(g) != 2 || len(g[1].Only) != 1 || len(g[1].Open) != 1 {
			t.Errorf("asked %+v", g)
		}
		began := len(r.glances())
		for range 40 {
			touch()
			r.wait(50 * time.Millisecond)
		}
		if n := len(r.glances()) - began; n < 2 || n > 4 {
			t.Errorf("asked %d times in two seconds", n)
		}
		r.wait(2 * time.Second)
		began = len(r.glances())
		r.wait(time.Minute)
		if n := len(r.glances()) - began; n != 0 {
			t.Errorf("asked %d times while nothing happened", n)
		}
	})
}

// TestWorkLeads: keys fold, open threads and pages, and agree to what waits.
func TestWorkLeads(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.recorded()
		r.proposed()
		r.keys("W")
		r.must("proceed?", "sub-agent", "by hand")
		r.keys("left")
		r.hides("exec-008")
		r.keys("right", "down", "down", "down", "down")
		r.keys("E")
		r.must("said", "HNSW is in lib/vector-search.ts", "REVIEW", "take the sections that are needed", "not sent", "+150", "coverage 85 %")
		r.hides("drops below 0.9 in")
		r.keys("esc", "home", "down", "down", "down")
		r.keys("a")
		r.must("proceed with exec-009?", "$2.87 of $5.00 left", "Start it", "Cancel it")
		r.keys("enter")
		if !r.srv.asked("answer try-jwt-b7c1 proceed-exec-009 \"\" 1") {
			t.Errorf("called %q", r.srv.calls)
		}
		r.spent()
		r.keys("$")
		r.must("▸work session", "in no work session")
	})
}

func TestWorkIsEmpty(t *testing.T) {
	play(t, world(), 80, 24, nil, func(r *rig) {
		stage(r)
		r.keys("W")
		r.must("No work yet", "orchestrator session init \"Fix the login\"")
		r.keys("enter", "a", "x", "right", "E", "esc")
		if r.m.dialogs.Open() {
			t.Error("it is still open")
		}
	})
}

// TestBudgetOfAWorkSessionBesideTheGauge: a thread that belongs to a work session has how much of its budget is spent beside
// how full its context is.
func TestBudgetOfAWorkSessionBesideTheGauge(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		limit := 5.0
		r.srv.budgets = []budget.Account{{Payer: budget.Payer{Scope: budget.OfSession("search"), Name: "session:search", Limit: thread.Budget{USD: &limit}},
			Spent: budget.Spent{Amount: budget.Amount{USD: 4.1}}, Level: budget.Warned}}
		s := r.srv.threads[0]
		s.Once.Session, s.Seq, s.Gauge.CostUSD = "search", 1000, 1.5
		r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
		r.wait(10 * time.Second)
		r.m.tree.Select(s.ID)
		r.settle()
		if said := r.m.money.OfWork(&s); said != "work 82%" {
			t.Errorf("it says %q", said)
		}
		if see := r.see(); !strings.Contains(see, "work 82%") {
			t.Errorf("it is not on the screen:\n%s", see)
		}
	})
}
