package wave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// reading decides who reads what was handed over: a person all of it; the run of an agent of a plan what its agent reads by
// the plan, and its own; the runs that such a run has started nothing; other agents that of the tasks that they asked for,
// and with the grant to read all. What is refused to the run of a plan's agent is written into the history of the task.
//
// This guards verbs, tools and tokens. It does not guard the disk: an agent whose sandbox lets it read the files of this
// program reads them.
type reading struct {
	cfg Config

	mu      sync.Mutex // guards refused
	refused map[thread.ID]int
}

// mostRefused is how many refused reads of a thread's agent are written down while a server runs.
const mostRefused = 50

// part returns the agent of a plan that a thread's agent works as; in is false for one that has nothing to do with a plan.
// Of a run that such an agent has started it has no agent's name.
func (r *reading) part(ctx context.Context, by thread.ID) (part thread.Part, in bool, err error) {
	if by == "" || r.cfg.Thread == nil {
		return part, false, nil
	}
	t, err := r.cfg.Thread(ctx, by)
	if errors.Is(err, thread.ErrNotFound) {
		return part, false, nil
	}
	if err != nil {
		return part, false, err
	}
	switch part = t.Once.Part; {
	case part.Task != "":
		return part, true, nil
	case t.Once.Spawn.Of.Task != "":
		return thread.Part{Task: t.Once.Spawn.Of.Task}, true, nil
	}
	return part, false, nil
}

// may refuses an author what an agent of a task handed over.
func (r *reading) may(ctx context.Context, a Author, task, agent string) error {
	if !a.Agent {
		return nil
	}
	part, in, err := r.part(ctx, a.Thread)
	if err != nil {
		return err
	}
	if !in {
		t, err := r.cfg.Store.Task(ctx, task)
		if err != nil {
			return err
		}
		return sees(a, t)
	}
	upstream, err := r.upstream(ctx, part)
	if err != nil {
		return err
	}
	if part.Task == task && part.Agent != "" && (part.Agent == agent || slices.Contains(upstream, agent)) {
		return nil
	}
	r.note(ctx, a.Thread, part, task, agent)
	if part.Agent == "" {
		return thread.Kindf(thread.ErrNotGranted, "a run that an agent of a plan has started reads nothing that is handed over")
	}
	reads := "it reads nothing"
	if len(upstream) > 0 {
		reads = "it reads " + strings.Join(upstream, ", ")
	}
	return thread.Hint(thread.Kindf(thread.ErrNotGranted, "%s of %s does not read %s", part.Agent, part.Task, thread.Excerpt(agent)), reads)
}

// upstream returns the agents that one reads.
func (r *reading) upstream(ctx context.Context, part thread.Part) ([]string, error) {
	if part.Agent == "" {
		return nil, nil
	}
	n, err := r.cfg.Store.Node(ctx, part.Task, part.Agent)
	return n.Reads, err
}

// note writes down what was refused, as far as there is such a task and an agent does not fill its history.
func (r *reading) note(ctx context.Context, by thread.ID, part thread.Part, task, agent string) {
	r.mu.Lock()
	r.refused[by]++
	much := r.refused[by] > mostRefused
	r.mu.Unlock()
	if much {
		return
	}
	who := part.Agent
	if who == "" {
		who = "a run that its agents started"
	}
	if part.Task != task {
		who += " of " + part.Task
	}
	e := plan.Event{At: r.cfg.Now(), Kind: plan.EventNote, Text: fmt.Sprintf("%s was refused what %s has handed over", who, thread.Excerpt(agent))}
	if part.Task == task {
		e.Node = part.Agent
	}
	if err := r.cfg.Store.Note(ctx, task, e); err != nil && !errors.Is(err, thread.ErrNotFound) {
		r.cfg.Log.Warn("write down a refused read", "task", task, "err", err)
	}
}

// opens refuses an author a token of what was handed over that no edge leads to. A token that none has is not refused.
func (r *reading) opens(ctx context.Context, a Author, token thread.Token) error {
	if !a.Agent {
		return nil
	}
	list, err := r.cfg.Store.Opens(ctx, token)
	if err != nil {
		return err
	}
	var refused error
	for _, h := range list {
		if h.By != "" && h.By == a.Thread {
			return nil
		}
		if refused = r.may(ctx, a, h.Task, h.Agent); refused == nil {
			return nil
		}
	}
	return refused
}
