package wave

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// seesAll reports whether somebody sees the tasks of others.
func seesAll(a Author) bool { return !a.Agent || a.Reads }

// own reports whether a task is somebody's to change.
func own(a Author, one plan.Task) bool { return !a.Agent || a.Thread != "" && one.By == a.Thread }

// sees refuses a task that is another's to who may not see those.
func sees(a Author, one plan.Task) error {
	if seesAll(a) || own(a, one) {
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrNotGranted, "the task %s is another's: seeing it needs the grant %q", one.Name, "read"),
		"ask the user for it: `orchestrator grants`")
}

// seenTask finds a task that somebody may see.
func seenTask(ctx context.Context, store plan.Store, a Author, ref string) (plan.Task, error) {
	one, err := store.Task(ctx, ref)
	if errors.Is(err, thread.ErrNotFound) {
		return plan.Task{}, unknownTask(ref)
	}
	if err == nil {
		err = sees(a, one)
	}
	if err != nil {
		return plan.Task{}, err
	}
	return one, nil
}

// unknownTask is the error for a task that there is not.
func unknownTask(ref string) error {
	return thread.Hint(thread.Kindf(thread.ErrNotFound, "no task named %q", thread.Excerpt(cleanLine(ref))), "`orchestrator wave list` lists them")
}
