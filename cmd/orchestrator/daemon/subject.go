package daemon

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/work"
)

// subject decides whether a request is about the caller's own thread and no other. It is asked of the request that the
// operation then gets, and puts what it has found in the place of names, so that the operation cannot find another. An
// operation whose row in the table of grants is the same for all threads has none.
type subject[Req any] func(context.Context, finder, grant.Caller, *Req) (own bool, err error)

// finder finds what requests name.
type finder interface {
	// threadNamed finds a thread by what stands for one in a request.
	threadNamed(ctx context.Context, name string) (thread.ID, error)
	// staged finds data by its token or, among what the caller sees, by a prefix of it.
	staged(ctx context.Context, c grant.Caller, token string) (thread.Staged, error)
	// execution finds an execution by its id or name.
	execution(ctx context.Context, ref string) (work.Execution, error)
}

// aThread is the subject of a request that names a thread. One that names none is about no single one.
func aThread[Req any](name func(*Req) *string) subject[Req] {
	return func(ctx context.Context, f finder, c grant.Caller, q *Req) (bool, error) {
		at := name(q)
		if *at == "" || c.Thread == "" {
			return false, nil
		}
		id, err := f.threadNamed(ctx, *at)
		if err != nil || id != c.Thread {
			return false, nil //nolint:nilerr // a thread that there is not is not the caller's
		}
		*at = string(id)
		return true, nil
	}
}

// thisThread is aThread for an operation that takes no name for the caller's own thread.
func thisThread[Req any](name func(*Req) *string) subject[Req] {
	return func(ctx context.Context, f finder, c grant.Caller, q *Req) (bool, error) {
		if at := name(q); *at == "" {
			*at = string(c.Thread)
		}
		return aThread(name)(ctx, f, c, q)
	}
}

// itsRef is the subject of a request that consists of a thread's name.
func itsRef() subject[api.Ref] { return aThread(func(q *api.Ref) *string { return &q.Thread }) }

// someData is the subject of a request that names staged data: the thread that has staged it.
func someData[Req any](token func(*Req) *string) subject[Req] {
	return func(ctx context.Context, f finder, c grant.Caller, q *Req) (bool, error) {
		at := token(q)
		d, err := f.staged(ctx, c, *at)
		if err != nil {
			return false, err
		}
		*at = string(d.Token)
		return c.Thread != "" && d.Thread == c.Thread, nil
	}
}

// anExecution is the subject of a request that names an execution: an agent's own are those that it asked for, and those
// of its thread.
func anExecution[Req any](name func(*Req) *string) subject[Req] {
	return func(ctx context.Context, f finder, c grant.Caller, q *Req) (bool, error) {
		at := name(q)
		x, err := f.execution(ctx, *at)
		if err != nil || !c.Owns(x) {
			return false, nil //nolint:nilerr // one that there is not is not the caller's
		}
		*at = string(x.ID)
		return true, nil
	}
}

// itsBase is the subject of a request for what an agent sends first: the caller's own thread, unless another or an agent
// is named.
func itsBase(ctx context.Context, f finder, c grant.Caller, q *thread.BaseQuery) (bool, error) {
	name := func(q *thread.BaseQuery) *string { return &q.Thread }
	if q.Agent != "" {
		return aThread(name)(ctx, f, c, q)
	}
	return thisThread(name)(ctx, f, c, q)
}
