package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"orchestrator/thread"
)

const (
	// mostOfTask is how many executions of a task decide about its status: the newest.
	mostOfTask = 200
	// mostSettles is how often a task is looked at while others write its executions.
	mostSettles = 20
)

// errAsItIs ends a change of a task that needs none.
var errAsItIs = errors.New("the task stays as it is")

// SettleTask has the status of a task of a work session follow those executions that move it. One that there is not yet is
// made, unless the work session is over. Of several at once, the last has the task be as all executions say that are stored
// then. After a restart, only what has happened since the task was written counts.
func SettleTask(ctx context.Context, r Record, now func() time.Time, session, title string, restart bool) error {
	var was Task // as it was written
	for range mostSettles {
		list, err := r.Recorded(ctx, RecordQuery{Session: session, Task: title, Limit: mostOfTask})
		if err != nil || len(list) == 0 {
			return err
		}
		if was.Title != "" && TaskStatusOf(moving(list, was.By)) == was.Status {
			return nil
		}
		was, err = r.ChangeTask(ctx, session, title, func(t *Task) error {
			if t.Created.IsZero() {
				t.By = list[len(list)-1].By
			}
			all := moving(list, t.By)
			status := TaskStatusOf(all)
			if len(all) == 0 || t.Status == status || restart && !t.Created.IsZero() && !later(all, t.Updated) {
				return errAsItIs
			}
			t.Status, t.Updated = status, now()
			return nil
		})
		switch {
		case errors.Is(err, errAsItIs), errors.Is(err, thread.ErrRefused): // there is none, and none is added any more
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// moving returns those executions that move what by has recorded.
func moving(list []Execution, by thread.ID) []Execution {
	return slices.DeleteFunc(slices.Clone(list), func(x Execution) bool { return !x.Moves(by) })
}

// later reports whether something has happened to executions after a time.
func later(list []Execution, at time.Time) bool {
	for _, x := range list {
		if x.Created.After(at) || x.Started.After(at) || x.Ended.After(at) {
			return true
		}
	}
	return false
}
