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
	prompt, err := e.prompt(t, n)
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
	if a.Spawn > 0 {
		r.Once.Spawn = thread.Spawn{Of: r.Once.Part, Runs: a.Spawn, Depth: cmp.Or(a.SpawnDepth, 1)}
	}
	if r.Flags.Program, err = e.cfg.Program(a); err != nil {
		return r, err
	}
	r.Lines = len(a.Program) > 0 // who wrote the plan has the program read what it is asked
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

// prompt returns what an agent is asked: its template with what its round was given.
func (e *Engine) prompt(t plan.Task, n plan.Node) (string, error) {
	r := plan.Rendering{
		Plan: t.Plan, Agent: n.Agent, Task: t, Reads: n.Reads, Upstream: map[string]plan.HandOver{}, Missing: map[string]string{},
		Count: e.cfg.Count, Place: func(h plan.HandOver) (plan.Placed, error) {
			return e.cfg.place(e.ctx, thread.Part{Task: t.Name, Agent: n.Agent, Round: n.Round}, h)
		},
	}
	for _, up := range n.Reads {
		v := n.Given[up]
		if v == 0 {
			missing, err := e.cfg.Store.Node(e.ctx, t.Name, up)
			if err != nil {
				return "", fmt.Errorf("why %s handed nothing over: %w", up, err)
			}
			r.Missing[up] = cmp.Or(missing.Reason, string(missing.State))
			continue
		}
		h, err := e.cfg.Store.HandOver(e.ctx, t.Name, up, v)
		if err != nil {
			return "", fmt.Errorf("what %s handed over: %w", up, err)
		}
		r.Upstream[up] = h
	}
	gates := gatesOf(t.Plan)
	for _, up := range n.After {
		if !gates[up] {
			continue
		}
		gate, err := e.cfg.Store.Node(e.ctx, t.Name, up)
		if err != nil {
			return "", fmt.Errorf("what was said of %s: %w", up, err)
		}
		if _, remark, has := strings.Cut(gate.Answered, ": "); has {
			r.Remarks = append(r.Remarks, plan.Remark{Gate: up, Text: remark})
		}
	}
	prompt, _, err := r.Prompt()
	return prompt, err
}

// gatesOf returns the names of a plan's gates.
func gatesOf(p *plan.Plan) map[string]bool {
	gates := map[string]bool{}
	for _, g := range p.Gates {
		gates[g.Name] = true
	}
	for _, a := range p.Agents {
		if a.Gate != "" {
			gates[plan.GateOf(a.Name)] = true
		}
	}
	return gates
}
