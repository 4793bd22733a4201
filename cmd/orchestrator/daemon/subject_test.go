package daemon

import (
	"context"
	"errors"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/work"
)

// things are two threads, mine and theirs, each with staged data.
type things struct{ person }

func (things) threadNamed(_ context.Context, name string) (thread.ID, error) {
	switch name {
	case "mine", "m", "id-mine":
		return "id-mine", nil
	case "theirs":
		return "id-theirs", nil
	case "broken":
		return "id-mine", errors.New("the store")
	default:
		return "", thread.ErrNotFound
	}
}

func (things) staged(_ context.Context, _ grant.Caller, token string) (thread.Staged, error) {
	switch token {
	case "max:1":
		return thread.Staged{Token: "max:11111111", Thread: "id-mine"}, nil
	case "max:2":
		return thread.Staged{Token: "max:22222222", Thread: "id-theirs"}, nil
	case "max:3": // the person's
		return thread.Staged{Token: "max:33333333"}, nil
	default:
		return thread.Staged{}, thread.ErrNotFound
	}
}

func (things) execution(_ context.Context, ref string) (work.Execution, error) {
	switch ref {
	case "exec-001":
		return work.Execution{ID: "x1", By: "id-mine", Thread: "id-theirs"}, nil
	case "exec-002":
		return work.Execution{ID: "x2", Thread: "id-mine"}, nil
	case "exec-003": // the person's
		return work.Execution{ID: "x3", Thread: "id-theirs"}, nil
	default:
		return work.Execution{}, thread.ErrNotFound
	}
}

// TestSubjects: only what is found to be the caller's is its own, and the operation gets what was found.
func TestSubjects(t *testing.T) {
	agent := grant.Caller{Agent: true, Thread: "id-mine"}
	stranger := grant.Caller{Agent: true}
	byName := aThread(func(q *api.Ref) *string { return &q.Thread })
	orMine := thisThread(func(q *api.Ref) *string { return &q.Thread })
	for _, c := range []struct {
		name  string
		about subject[api.Ref]
		who   grant.Caller
		asks  string
		own   bool
		gets  string
	}{
		{"its own", byName, agent, "mine", true, "id-mine"},
		{"its own by a prefix", byName, agent, "m", true, "id-mine"},
		{"another's", byName, agent, "theirs", false, "theirs"},
		{"none", byName, agent, "", false, ""},
		{"none that there is", byName, agent, "nobody", false, "nobody"},
		{"one that cannot be read", byName, agent, "broken", false, "broken"},
		{"a stranger's", byName, stranger, "mine", false, "mine"},
		{"a stranger's none", byName, stranger, "", false, ""},
		{"its own by default", orMine, agent, "", true, "id-mine"},
		{"another's, named", orMine, agent, "theirs", false, "theirs"},
		{"a stranger by default", orMine, stranger, "", false, ""},
	} {
		q := api.Ref{Thread: c.asks}
		if own, err := c.about(t.Context(), things{}, c.who, &q); own != c.own || err != nil || q.Thread != c.gets {
			t.Errorf("%s: own %v, %v, and the operation gets %q", c.name, own, err, q.Thread)
		}
	}
	ofData := someData(func(q *api.StagedRef) *string { return &q.Token })
	for _, c := range []struct {
		token, gets string
		who         grant.Caller
		own, fails  bool
	}{
		{"max:1", "max:11111111", agent, true, false},
		{"max:2", "max:22222222", agent, false, false},
		{"max:3", "max:33333333", agent, false, false},
		{"max:3", "max:33333333", stranger, false, false},
		{"max:4", "max:4", agent, false, true},
	} {
		q := api.StagedRef{Token: c.token}
		own, err := ofData(t.Context(), things{}, c.who, &q)
		if own != c.own || (err != nil) != c.fails || q.Token != c.gets {
			t.Errorf("%s: own %v, %v, and the operation gets %q", c.token, own, err, q.Token)
		}
	}
	for _, c := range []struct {
		ref, gets string
		who       grant.Caller
		own       bool
	}{
		{"exec-001", "x1", agent, true},
		{"exec-002", "x2", agent, true},
		{"exec-003", "exec-003", agent, false},
		{"exec-004", "exec-004", agent, false},
		{"exec-003", "exec-003", stranger, false},
	} {
		q := api.ExecutionRef{Execution: c.ref}
		own, err := itsExecution()(t.Context(), things{}, c.who, &q)
		if own != c.own || err != nil || q.Execution != c.gets {
			t.Errorf("%s: own %v, %v, and the operation gets %q", c.ref, own, err, q.Execution)
		}
	}
}
