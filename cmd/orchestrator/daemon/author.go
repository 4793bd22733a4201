package daemon

import (
	"context"

	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/record"
)

// authorOf returns who records or asks with a request that was let through.
func authorOf(ctx context.Context) record.Author { return authorBy(callerOf(ctx)) }

// authorBy returns who a caller is for the record.
func authorBy(c grant.Caller) record.Author {
	return record.Author{Agent: c.Agent, Thread: c.Thread, Reads: c.Has(grant.Read)}
}

// recorded adds a use case of the record, which is told who asks. What an author may do is decided there.
func recorded[Req, Resp any](r *routes, c api.Call[Req, Resp], f func(context.Context, record.Author, Req) (Resp, error)) {
	answer(r, c, nil, func(ctx context.Context, q Req) (Resp, error) { return f(ctx, authorOf(ctx), q) })
}
