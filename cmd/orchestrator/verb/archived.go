package verb

import (
	"context"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// withArchive returns threads together with all that are archived.
func withArchive(ctx context.Context, cl *client.Client, list []thread.Status) ([]thread.Status, error) {
	there := make(map[thread.ID]bool, len(list))
	for i := range list {
		there[list[i].ID] = true
	}
	var ask api.ArchivedRequest
	var more []thread.Status // newest first
	for {
		page, err := api.Archived.Do(ctx, cl, ask)
		if err != nil {
			return nil, err
		}
		for _, s := range page.Threads {
			if !there[s.ID] {
				there[s.ID], more = true, append(more, s)
			}
		}
		if ask.After = page.Next; page.Next == 0 {
			break
		}
	}
	all := make([]thread.Status, 0, len(more)+len(list))
	for i := len(more) - 1; i >= 0; i-- {
		all = append(all, more[i])
	}
	return append(all, list...), nil
}

// named adds the names of threads that are not in a list, by their ids: of those that are archived.
func named(ctx context.Context, cl *client.Client, names map[thread.ID]string, ids []thread.ID) {
	for _, id := range ids {
		if _, known := names[id]; known || id == "" {
			continue
		}
		if s, err := api.Status.Do(ctx, cl, api.Ref{Thread: string(id)}); err == nil {
			names[id] = s.Name
		} else {
			names[id] = "" // it is asked for once
		}
	}
}
