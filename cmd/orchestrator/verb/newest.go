package verb

import (
	"context"
	"fmt"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// shown returns the thread that was last shown or changed.
func shown(ctx context.Context, cl *client.Client) (string, error) {
	list, err := api.List.Do(ctx, cl, api.None{})
	if err != nil {
		return "", err
	}
	best := newest(list, time.Now())
	if best.ID == "" {
		return "", fmt.Errorf("%w: there is no thread to fork", thread.ErrNotFound)
	}
	return string(best.ID), nil
}

// newest returns the thread that was changed last. Times in the future, from a clock that was ahead, count as oldest.
func newest(list []thread.Status, now time.Time) (best thread.Status) {
	at := func(s thread.Status) time.Time {
		if s.Updated.After(now.Add(time.Hour)) {
			return s.Updated.AddDate(-1000, 0, 0)
		}
		return s.Updated
	}
	for _, s := range list {
		if s.Archived.IsZero() && (best.ID == "" || at(s).After(at(best))) {
			best = s
		}
	}
	return best
}
