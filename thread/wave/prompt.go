package wave

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// newRun returns what the run of a node's round is asked with: what its agent in the plan says, and nothing that another
// agent has said but what its prompt quotes.
func (e *Engine) newRun(t plan.Task, n plan.Node, a plan.Agent) (thread.NewRequest, error) {
	prompt, err := e.prompt(t, n, a)
	if err != nil {
		return thread.NewRequest{}, err
	}
	limit, err := budgetOf(a.Budget)
	if err != nil {
		return thread.NewRequest{}, err
	}
	r := thread.NewRequest{
		Agent: cmp.Or(a.Agent, e.cfg.Agent), Model: a.Model, Name: t.Name + " " + n.Agent, Label: t.Title + ": " + n.Agent,
		Prompt: prompt, Dir: t.Dir, Started: true, By: t.By, Given: thread.Given{Scope: t.Title + ": " + n.Agent},
		Once: Once(a, t.Session),
	}
	r.Once.Budget, r.Once.Group, r.Once.Part = limit, t.Name, thread.Part{Task: t.Name, Agent: n.Agent, Round: n.Round}
	r.Flags.Program = a.Program
	if t.Session != "" {
		r.Once.Task = t.Title
	}
	return r, nil
}

// Once is how an agent of a plan runs, without what is of its task.
func Once(a plan.Agent, session string) thread.Once {
	return thread.Once{
		On: true, ReadOnly: len(a.Writes) == 0, Deadline: time.Duration(a.Deadline), Dispose: a.Merge, Tier: a.Tier,
		Caps: thread.Caps{Calls: a.Calls}, Session: session, Type: a.Name,
	}
}

// prompt returns what an agent is asked.
func (e *Engine) prompt(t plan.Task, n plan.Node, a plan.Agent) (string, error) {
	var b strings.Builder
	text := strings.NewReplacer("{{title}}", t.Title, "{{body}}", t.Body).Replace(a.Prompt)
	b.WriteString(text)
	for _, up := range n.Reads {
		v := n.Given[up]
		if v == 0 {
			continue
		}
		h, err := e.cfg.Store.HandOver(e.ctx, t.Name, up, v)
		if err != nil {
			return "", fmt.Errorf("what %s handed over: %w", up, err)
		}
		fmt.Fprintf(&b, "\n\n## %s\n\n```json\n%s\n```\n", up, h.Data)
	}
	return b.String(), nil
}
