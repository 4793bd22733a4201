package wave_test

import (
	"errors"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// TestATaskHasItsBudgetBeforeItBegins: whether it could not be set at first, or a server died before it was.
func TestATaskHasItsBudgetBeforeItBegins(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	p := plan.Plan{Name: "p", Budget: "$2", Agents: []plan.Agent{{Name: "a", Prompt: "work"}}}
	h.mu.Lock()
	h.unset = 2
	h.mu.Unlock()
	v, err := h.Waves.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := plan.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	left, err := h.plans.AddTask(t.Context(), plan.Task{Title: "t", Status: plan.InProgress, Plan: &p, PlanName: p.Name, Server: "here", Fence: 1}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	h.Stuck(thread.Part{Task: left.Name}, "") // as whatever has it read
	for _, task := range []string{v.Task.Name, left.Name} {
		h.runs(task, "a")
		h.mu.Lock()
		if !h.budgets[task].Set() {
			t.Errorf("%s has no budget", task)
		}
		h.mu.Unlock()
	}
}

// TestARunEndsBeforeItIsAccepted is not left to a sweep.
func TestARunEndsBeforeItIsAccepted(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	h.quick = `{"n": 1}`
	h.is(h.begins(plan.Agent{Name: "a"}), "a", plan.NodeDelivered)
}

// TestAStuckAgentIsStopped: what its run does until it has ended does not bring it back.
func TestAStuckAgentIsStopped(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	p := plan.Plan{Name: "p", Stall: plan.Stall{Policy: plan.StallStop}, Agents: []plan.Agent{{Name: "a", Prompt: "work"}, {Name: "b", Prompt: "work"}}}
	v, err := h.Waves.Run(t.Context(), wave.Author{}, wave.RunRequest{Plan: p, Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	task := v.Task.Name
	x := h.runs(task, "a")
	h.until(task, "a", "known by its run", func(n plan.Node) bool { return n.Execution == x.ID })
	h.Stuck(x.Part, "silent")
	h.is(task, "a", plan.NodeFailed)
	x.State = work.Running
	h.Heard(x)
	time.Sleep(50 * time.Millisecond)
	h.is(task, "a", plan.NodeFailed)
	h.says(task, "b", `{"n": 1}`)
	h.is(task, "b", plan.NodeDelivered)
}

// TestAnAgentPutsTheSameAgain: it is no new version, and handed over in its round all the same.
func TestAnAgentPutsTheSameAgain(t *testing.T) {
	t.Parallel()
	h := newHands(t)
	task := h.begins(plan.Agent{Name: "a"})
	for round := range 2 {
		if round > 0 {
			if _, err := h.Retry(t.Context(), wave.Author{}, wave.RetryRequest{Task: task, Agent: "a"}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := h.Put(t.Context(), h.agent(task, "a"), wave.PutRequest{Data: `{"n":1}`})
		if err != nil || got.Version != 1 || got.Same != (round > 0) {
			t.Fatalf("%+v, %v", got, err)
		}
		h.says(task, "a", "Done, no JSON.")
		h.until(task, "a", "delivered", func(n plan.Node) bool { return n.State == plan.NodeDelivered && n.Round == round+1 })
	}
	if p := h.prompts(); len(p) != 2 {
		t.Errorf("it was asked %q", p)
	}
}

// TestATaskOfAnotherName is this server's where nobody else can have it; else only a person's cancel takes it over.
func TestATaskOfAnotherName(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{true, false} {
		h := newHands(t)
		p := plan.Plan{Name: "p", Agents: []plan.Agent{{Name: "a", Prompt: "work"}}}
		nodes, err := plan.Layout(p)
		if err != nil {
			t.Fatal(err)
		}
		left, err := h.plans.AddTask(t.Context(), plan.Task{Title: "t", Status: plan.InProgress, Plan: &p, PlanName: p.Name, Server: "renamed", Fence: 1}, nodes)
		if err != nil {
			t.Fatal(err)
		}
		w := h.serves(alone)
		if alone {
			h.runs(left.Name, "a")
		} else if _, err := w.Retry(t.Context(), wave.Author{}, wave.RetryRequest{Task: left.Name}); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("retry: %v", err)
		}
		v, err := w.Cancel(t.Context(), wave.Author{}, wave.TaskRef{Task: left.Name})
		if err != nil || v.Task.Status != plan.Cancelled {
			t.Errorf("alone %v: it is %s, %v", alone, v.Task.Status, err)
		}
	}
}
