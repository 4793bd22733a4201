package ui

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

func (s *server) AddTask(_ context.Context, q wave.AddRequest) (plan.Task, error) {
	s.note("task-add %q %q %q %s", q.Title, q.Body, q.Plan, q.Vars[plan.SingleAgent])
	s.mu.Lock()
	defer s.mu.Unlock()
	t := plan.Task{Name: "task-009", Title: q.Title, Body: q.Body, PlanName: q.Plan, Status: plan.Pending, Created: time.Now()}
	s.tasks.list = append([]plan.Task{t}, s.tasks.list...)
	return t, s.err
}

func (s *server) Tasks(_ context.Context, q wave.ListRequest) ([]plan.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []plan.Task{}
	for _, t := range s.tasks.list {
		if q.Task == t.Name || q.Of != "" && t.By == thread.ID(q.Of) {
			out = append(out, t)
		}
	}
	return out, s.err
}

func (s *server) EditTask(_ context.Context, q wave.EditRequest) (plan.Task, error) {
	raw, err := json.Marshal(q)
	if err != nil {
		return plan.Task{}, err
	}
	s.note("task-edit %s", raw)
	return plan.Task{Name: q.Task}, s.err
}

func (s *server) StartTask(_ context.Context, q wave.RunRequest) (plan.Task, error) {
	who := ""
	if len(q.Plan.Agents) > 0 {
		who = q.Plan.Agents[0].Agent
	}
	s.note("task-start %s plan %q by %q", q.Task, q.Plan.Name, who)
	return plan.Task{Name: q.Task, Status: plan.InProgress}, s.err
}

func (s *server) SplitTask(_ context.Context, q wave.SplitRequest) (plan.Task, error) {
	s.note("task-split %q by %s", q.Text, q.Agent)
	s.mu.Lock()
	defer s.mu.Unlock()
	split := plan.Task{Name: "task-020", Title: "Split: so", PlanName: "task-split", Status: plan.InProgress, Created: time.Now()}
	s.tasks.list = append([]plan.Task{split}, s.tasks.list...)
	return split, s.err
}

// splits has the agent that splits the text end.
func (r *rig) splits(as plan.Status, titles ...string) {
	r.srv.mu.Lock()
	i := slices.IndexFunc(r.srv.tasks.list, func(t plan.Task) bool { return t.Name == "task-020" })
	if r.srv.tasks.list[i].Status = as; as == plan.Complete {
		r.srv.tasks.list[i].Reason = "its tasks are proposed"
	}
	for i, title := range titles {
		t := plan.Task{Name: "task-02" + string(rune('1'+i)), Title: title, Body: "All that the text says about it:\n\n- two tabs\n- \"logged out\"", Status: plan.Proposed,
			By: "task-020", Created: time.Now(), Vars: map[string]json.RawMessage{plan.SingleAgent: json.RawMessage(`"codex"`)}}
		r.srv.tasks.list = append([]plan.Task{t}, r.srv.tasks.list...)
	}
	r.srv.mu.Unlock()
	r.wait(2 * time.Second)
}

// TestTextIsSplit: what an agent proposes is shown in the text's order; each is read, changed, begun and removed, and nothing
// begins before that is chosen.
func TestTextIsSplit(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {250, 70}} {
		play(t, world(), size[0], size[1], nil, func(r *rig) {
			stage(r)
			r.waves()
			r.keys("W", ". s")
			r.must("split a text into tasks")
			r.text("so the login, and then the docs")
			goldenOf(t, "tasks-split", size, r)
			r.keys("tab")
			r.text("claude")
			r.keys("enter")
			r.wait(time.Second)
			r.mustAsk(`task-split "so the login, and then the docs" by claude`)
			r.must("An agent reads the text")
			r.splits(plan.Complete, "Mend the login", "Write the docs")
			r.must("Mend the login", "Write the docs", "Begin all 2 tasks")
			goldenOf(t, "tasks-proposed", size, r)
			r.keys("enter")
			r.wait(time.Second)
			r.must("task-021", "two tabs", "Remove")
			goldenOf(t, "tasks-proposal", size, r)
			for _, s := range []string{"task-start", "task-edit"} {
				if r.srv.asked(s) {
					t.Errorf("%s before it was chosen", s)
				}
			}
		})
	}
}

// TestProposalsBegin: one, and all.
func TestProposalsBegin(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.waves()
		r.keys("W", ". s")
		r.text("so")
		r.keys("tab")
		r.text("claude")
		r.keys("enter")
		r.wait(time.Second)
		r.splits(plan.Complete, "Mend the login", "Write the docs")
		r.keys("enter")
		r.wait(time.Second)
		r.must("[ Begin ]") // all of it was on the screen
		r.keys("right", "right", "enter")
		r.wait(time.Second)
		r.mustAsk(`task-start task-021 plan "single" by "codex"`)
		if r.srv.asked(`task-start task-022 plan "single" by "codex"`) {
			t.Error("the other one begins")
		}
		r.keys(". A")
		r.must("begin all", "Write the docs", "Leave them")
		r.keys("right", "enter")
		r.wait(time.Second)
		r.mustAsk(`task-start task-022 plan "single" by "codex"`)
	})
}

// TestNothingUsableIsSaid: a split that fails is said, and proposes nothing.
func TestNothingUsableIsSaid(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.waves()
		r.keys("W", ". s")
		r.text("so")
		r.keys("tab")
		r.text("claude")
		r.keys("enter")
		r.wait(time.Second)
		r.splits(plan.Failed)
		r.must("no task was stored")
	})
}

// TestTaskIsAddedAndEdited by their forms.
func TestTaskIsAddedAndEdited(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.waves()
		r.keys("W", "n")
		r.must("new task")
		r.keys("enter")
		r.must("Say in a few words")
		r.text("Mend the login")
		r.keys("tab", "tab")
		r.text("fix")
		r.keys("enter")
		r.wait(time.Second)
		r.mustAsk(`task-add "Mend the login" "" "fix" `)
		r.keys("home", "down", ". e") // task-003, after the new one
		r.wait(time.Second)
		r.must("edit task-003", "Into German and French")
		r.text(" now")
		r.keys("enter")
		r.wait(time.Second)
		r.mustAsk(`task-edit {"task_id":"task-003","plan":"","title":"Translate the manual now","body":"Into German and French"}`)
	})
}
