package wave

import (
	"context"
	"encoding/json"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// Starter puts plans at work.
type Starter interface {
	// Run begins a plan on a new task, or on the one that the request names.
	Run(ctx context.Context, a Author, q RunRequest) (View, error)
}

// The plan of a split, and the agent of it.
const (
	splitPlan  = "task-split"
	splitAgent = "split"
)

// waiting are the states of a task that has not begun.
func waiting() []plan.Status { return []plan.Status{plan.Proposed, plan.Pending} }

// hasNotBegun refuses a task that has.
func hasNotBegun(one plan.Task) error {
	if slices.Contains(waiting(), one.Status) {
		return nil
	}
	does := "`orchestrator wave status " + one.Name + "` shows it"
	if one.Status == plan.InProgress {
		does += ", `orchestrator wave cancel " + one.Name + "` ends it"
	}
	return thread.Hint(thread.Kindf(thread.ErrRefused, "%s has begun: it is %s", one.Name, words(one.Status)), does)
}

// words is a state as people read it.
func words(s plan.Status) string {
	if s == plan.InProgress {
		return "in progress"
	}
	return string(s)
}

// armedPlan returns a plan that is armed.
func armedPlan(ctx context.Context, store plan.Store, name string) (plan.Armed, bool, error) {
	if name == "" {
		return plan.Armed{}, false, nil
	}
	all, err := store.Armed(ctx)
	if err != nil {
		return plan.Armed{}, false, err
	}
	i := slices.IndexFunc(all, func(a plan.Armed) bool { return a.Name == name && a.On })
	if i < 0 {
		return plan.Armed{}, false, nil
	}
	return all[i], true, nil
}

// checkVars refuses variables that a plan does not have, or that it would not take.
func checkVars(p plan.Plan, vars map[string]json.RawMessage) error {
	_, findings := plan.Values(p, vars)
	for _, f := range findings {
		if f.Level == plan.Wrong {
			return f.Err()
		}
	}
	return nil
}
