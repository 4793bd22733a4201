package orchestration

import (
	"context"

	"orchestrator/thread/api"
	"orchestrator/thread/record"
)

// History finds executions of all kinds by words, files and more: who did something, and what it cost.
func History(ctx context.Context, server api.Doer, q record.HistoryRequest) ([]record.Worked, error) {
	return api.History.Do(ctx, server, q)
}

// HistoryContext returns what executions of a type were given.
func HistoryContext(ctx context.Context, server api.Doer, q record.ContextRequest) ([]record.Given, error) {
	return api.HistoryContext.Do(ctx, server, q)
}

// HistoryWho returns who worked on a task.
func HistoryWho(ctx context.Context, server api.Doer, q record.WhoRequest) (record.Who, error) {
	return api.HistoryWho.Do(ctx, server, q)
}

// HistoryBundles returns what came of bundles.
func HistoryBundles(ctx context.Context, server api.Doer, q record.ProducedRequest) ([]record.Produced, error) {
	return api.HistoryBundles.Do(ctx, server, q)
}

// Trace returns the chain that an execution, a bundle or an output is a part of: context, execution, outputs, checks.
func Trace(ctx context.Context, server api.Doer, q record.TraceRequest) (record.Trace, error) {
	return api.HistoryTrace.Do(ctx, server, q)
}

// Stats sums up executions: how many, how many succeeded, tokens, cost and time.
func Stats(ctx context.Context, server api.Doer, q record.StatsRequest) (record.Sums, error) {
	return api.Stats.Do(ctx, server, q)
}
