// Package tasks adds tasks that wait, has a text split into some, and changes and begins them. What an agent proposes begins
// by the person's word only.
package tasks

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Config is what the feature works with.
type Config struct {
	// Agent works on a task without a plan, and splits texts, unless the person says another. Git says that it can have a
	// worktree.
	Agent string
	Git   bool
	// Plan reads a plan by its name, as the person has accepted it; nil if only those that are armed are known.
	Plan func(name string) (plan.Plan, error)
	// Look has a task shown as it is now.
	Look func(task string) tea.Cmd
}

// Feature does it.
type Feature struct {
	*host.Host
	cfg Config
}

// New returns the feature.
func New(h *host.Host, c Config) *Feature { return &Feature{Host: h, cfg: c} }

// Start begins a task that waits.
func (f *Feature) Start(t plan.Task) tea.Cmd { return f.begin([]plan.Task{t}) }

// begin begins tasks that wait, the oldest first. One that cannot begin does not hold up the others.
func (f *Feature) begin(list []plan.Task) tea.Cmd {
	each := func(ctx context.Context) (begun []string, err error) {
		for i := range list {
			t := list[len(list)-1-i] // lists are newest first
			q, one := f.request(t)
			if one == nil {
				_, one = api.StartTask.Do(ctx, f.Server, q)
			}
			if one != nil {
				err = errors.Join(err, one)
				continue
			}
			begun = append(begun, t.Name)
		}
		return begun, err
	}
	return host.Call(f.Host, host.Slow, each, func(begun []string, err error) tea.Cmd {
		var all []tea.Cmd
		for _, name := range begun {
			all = append(all, f.look(name))
		}
		if err != nil {
			return tea.Batch(append(all, f.Fail("begin "+plain.Count(len(list), "task"), err))...)
		}
		said := begun[0] + " begins"
		if len(begun) > 1 {
			said = plain.Count(len(begun), "task") + " begin"
		}
		return tea.Batch(append(all, f.Notify(thread.LevelInfo, said))...)
	})
}

// request is how a task begins: with its plan, with that plan as it is armed, or, without one, by one agent.
func (f *Feature) request(t plan.Task) (q wave.RunRequest, err error) {
	q.Task = t.Name
	switch {
	case t.PlanName == "":
		a := plan.Agent{Agent: plan.Plain(t.Vars[plan.SingleAgent])}
		if a.Agent == "" {
			a.Agent = f.cfg.Agent
		}
		if a.Agent == "" {
			return q, thread.Hint(thread.Kindf(thread.ErrInvalid, "%s has no plan, and no agent is configured", t.Name), "edit it and name a plan or an agent")
		}
		q.Plan = plan.Single(a, f.cfg.Git)
	case f.cfg.Plan != nil:
		p, err := f.cfg.Plan(t.PlanName)
		if err == nil {
			q.Plan = p
		} else if errors.Is(err, thread.ErrNotFound) {
			return q, nil // it may be armed, and gone as a file
		}
		return q, err
	}
	return q, nil
}

func (f *Feature) look(task string) tea.Cmd {
	if f.cfg.Look == nil {
		return nil
	}
	return f.cfg.Look(task)
}

// cancel has a task never begin.
func (f *Feature) cancel(name string) tea.Cmd {
	return f.edited("cancel "+name, name+" never begins", wave.EditRequest{Task: name, Cancel: true})
}

// edited changes a task.
func (f *Feature) edited(what, said string, q wave.EditRequest) tea.Cmd {
	return host.Call(f.Host, host.Quick, api.EditTask.On(f.Server, q), func(_ plan.Task, err error) tea.Cmd {
		if err != nil {
			return tea.Batch(f.look(q.Task), f.Fail(what, err))
		}
		return tea.Batch(f.look(q.Task), f.Notify(thread.LevelInfo, said))
	})
}
