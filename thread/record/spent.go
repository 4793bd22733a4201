package record

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// spent sums up executions. All of them are counted, but what sub-agents of CLIs have used is a part of what their parents
// have, and is not added to it.
func spent(ctx context.Context, store work.Record, q work.StatsQuery) ([]work.Stat, error) {
	all, err := store.Stats(ctx, q)
	if err != nil {
		return nil, err
	}
	q.Kinds = []work.Kind{work.KindRun, work.KindTerminal, work.KindHand}
	own, err := store.Stats(ctx, q)
	if err != nil {
		return nil, err
	}
	used := map[string]thread.Usage{}
	for _, s := range own {
		used[s.Key] = s.Usage
	}
	for i := range all {
		all[i].Usage = used[all[i].Key]
	}
	return all, nil
}
