package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

// runOf is a thread that runs without a terminal, with its newest execution in a state.
func runOf(n int, name, agent, state string, started time.Duration) thread.Status {
	s := status(name, "", thread.StateExited, 20+n)
	s.Agent, s.Model, s.Once.On = agent, "", true
	s.Run = &thread.RunStatus{Execution: fmt.Sprintf("exec-%03d", n), State: state, Attempt: 1}
	if state != "queued" {
		s.Run.Started = epoch.Add(-started)
	}
	if s.Run.Working() {
		s.State.State, s.Execution = thread.StateWorking, &thread.Execution{ID: "p-" + thread.ExecutionID(name)}
		s.State.Since = s.Run.Started
	} else if s.Run.Over() {
		s.Run.Ended = epoch.Add(-started / 2)
	}
	s.Gauge = thread.Gauge{Tokens: int64(n) * 9_000, Window: 200_000, CostUSD: float64(n) * 0.07}
	s.Usage = thread.Usage{CostUSD: float64(n) * 0.07, Priced: true}
	return s
}

// eightRuns are runs of three agents: one waits, one was cancelled, one is lost, two were asked for by the first thread's
// agent.
func eightRuns() []thread.Status {
	all := []thread.Status{
		runOf(1, "review-auth-1a2b", "claude", "running", 95*time.Second), runOf(2, "port-parser-2b3c", "codex", "running", 40*time.Second),
		runOf(3, "find-leaks-3c4d", "gemini", "queued", 0), runOf(4, "bump-deps-4d5e", "codex", "cancelled", 10*time.Minute),
		runOf(5, "write-docs-5e6f", "claude", "lost", 20*time.Minute), runOf(6, "list-todos-6f70", "gemini", "completed", 3*time.Minute),
		runOf(7, "check-a-7a8b", "claude", "running", 12*time.Second), runOf(8, "check-b-8b9c", "claude", "failed", 2*time.Minute),
	}
	all[0].Last, all[1].Last, all[5].Last, all[6].Last = "go test ./auth", "Edit parse.go", "There are 14 TODOs, of which 3 are old", "Read session.go"
	all[2].Run.Reason, all[3].Run.Reason = "2 of 2 gemini runs are running", "Ctrl+C"
	all[4].Run.Reason, all[7].Run.Reason = "its server died while it worked", "429 rate limit"
	all[5].Seen, all[7].Seen = false, true
	all[6].Run.By, all[7].Run.By = "auth-feature-a3f2", "auth-feature-a3f2"
	return all
}

// ran has the server tell of eight runs.
func (r *rig) ran() {
	for _, s := range eightRuns() {
		r.srv.threads = append(r.srv.threads, s)
		r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
	}
}

// asks has two of the eight runs ask: for a command, and for a choice.
func (r *rig) asks() {
	ask := func(id string, q thread.Question) {
		r.changed(id, func(s *thread.Status) {
			run := *s.Run
			run.State, run.Reason = string(work.NeedsInput), q.Line()
			s.Run, s.State = &run, thread.StateReport{State: q.Kind.State(), Since: q.Since, Question: &q}
		})
	}
	ask("review-auth-1a2b", thread.Question{
		ID: "4f-1", Kind: thread.QuestionPermission, Text: "Allow this command?", About: "go test ./auth", Since: epoch.Add(-9 * time.Second),
		Choices: []thread.Choice{{Text: "Yes", Means: thread.Approve}, {Text: "Yes, always", Means: thread.ApproveAlways}, {Text: "No", Means: thread.Deny}},
	})
	ask("port-parser-2b3c", thread.Question{
		ID: "5a-1", Kind: thread.QuestionChoice, Text: "Which grammar is the parser for?", Since: epoch.Add(-4 * time.Minute),
		Choices: []thread.Choice{{Text: "The old one"}, {Text: "The new one"}},
	})
}

// changed has the server tell of a change of a thread.
func (r *rig) changed(id string, change func(*thread.Status)) {
	s := r.srv.find(id)
	change(&s)
	r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
}

// executions has the fake of the server take what is asked of executions.
func (s *server) executions(h handlers) {
	answer(h, api.StartRun, func(_ context.Context, q thread.NewRequest) (thread.Status, error) {
		s.note("run %s %q readonly=%v", q.Agent, q.Prompt, q.Once.ReadOnly)
		t := runOf(9, "new-run-9c0d", q.Agent, "queued", 0)
		return t, s.err
	})
	answer(h, api.CancelExecution, func(_ context.Context, q api.CancelRequest) (work.Execution, error) {
		s.note("cancel %s", q.Execution)
		return work.Execution{}, s.err
	})
	answer(h, api.ResumeExecution, func(_ context.Context, q api.ExecutionRef) (work.Execution, error) {
		s.note("resume %s", q.Execution)
		return work.Execution{}, s.err
	})
}

// TestRunsAreCancelledFromTheMenu: after a question, which goes away with the run; a lost one goes on.
func TestRunsAreCancelledFromTheMenu(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.ran()
		r.m.tree.Select("review-auth-1a2b")
		r.keys(". k")
		r.must("cancel exec-001 of review-auth", "within a second")
		r.keys("enter") // nothing is chosen before it was looked at
		if r.srv.asked("cancel") {
			t.Errorf("%q", r.srv.calls)
		}
		r.keys(". k", "right", "enter")
		r.mustAsk("cancel exec-001")
		r.m.tree.Select("port-parser-2b3c")
		r.keys(". k")
		r.changed("port-parser-2b3c", func(s *thread.Status) {
			s.Run = &thread.RunStatus{Execution: "exec-002", State: "completed"}
			s.Execution, s.State.State = nil, thread.StateExited
		})
		r.must("exec-002 has ended")
		r.keys("esc")
		r.m.tree.Select("write-docs-5e6f")
		r.keys(".")
		r.must("go on with exec-005, which was lost", "take over")
		if strings.Contains(r.see(), "stop the agent") {
			t.Errorf("a run that has ended can be stopped:\n%s", r.see())
		}
		r.keys("esc", ". u")
		r.mustAsk("resume exec-005")
	})
}

// TestEnterOnRuns: one that works shows its log, which takes no keys; one that waits says why; one that has ended is taken
// over, or asked again.
func TestEnterOnRuns(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.ran()
		r.m.tree.Select("find-leaks-3c4d")
		r.keys("enter")
		r.must("exec-003 has not started", "2 of 2 gemini runs")
		r.m.tree.Select("list-todos-6f70")
		r.wait(time.Second)
		r.keys("r")
		r.must("next run of list-todos")
		r.text("and FIXMEs?")
		r.keys("enter")
		r.mustAsk(`send list-todos-6f70 "and FIXMEs?"`)
		r.keys("enter")
		r.mustAsk("resume list-todos-6f70")
		r.keys("ctrl+q")
		r.m.tree.Select("review-auth-1a2b")
		r.wait(time.Second)
		r.keys("enter", "x")
		r.must("exec-001 has no terminal, this is its log")
		r.keys("ctrl+q")
	})
}

// TestFormRunsOnce: the form starts a run, for which it needs a prompt.
func TestFormRunsOnce(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("n", "shift+tab", "shift+tab", "right", "right", "enter")
		r.must("needs a prompt")
		if r.srv.asked("run") || r.srv.asked("new") {
			t.Errorf("%q", r.srv.calls)
		}
		r.keys("esc", "n", "tab")
		r.text("list the TODOs")
		r.keys("shift+tab", "shift+tab", "shift+tab", "right", "right", "enter")
		r.mustAsk(`run claude "list the TODOs" readonly=true`)
		r.must("new-run")
	})
}
