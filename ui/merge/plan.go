package merge

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
)

// plan is a merge to make: of a thread, into another one or its parent, and whether that finishes the thread. With
// commit, uncommitted changes in the target folder are committed first.
type plan struct {
	id, into       thread.ID
	finish, commit bool
	named          string // the files that the user was told would be committed
}

// errOthersToCommit means that a merge would commit other files than the user was asked about.
var errOthersToCommit = errors.New("the uncommitted files have changed, please check again")

// namesOf returns a list of paths as one comparable string.
func namesOf(paths []string) string { return strings.Join(paths, "\x00") }

func (p plan) request() thread.MergeRequest {
	return thread.MergeRequest{Thread: string(p.id), Into: string(p.into), Finish: p.finish, CommitInto: p.commit}
}

// preview is what a merge would do. If uncommitted changes are in its way, the plan is to commit them first.
type preview struct {
	plan
	report thread.MergeReport
}

// preview asks the server what a merge would do.
func (p plan) preview(ctx context.Context, srv api.Doer) (preview, error) {
	req := p.request()
	req.DryRun = true
	r, err := api.Merge.Do(ctx, srv, req)
	if !p.commit && errors.Is(err, thread.ErrConflict) {
		req.CommitInto = true
		if with, no := api.Merge.Do(ctx, srv, req); no == nil && len(with.Committed) > 0 {
			p.commit, p.named, r, err = true, namesOf(with.Committed), with, nil
		}
	}
	return preview{p, r}, err
}

// merge asks the server to merge, unless that would commit other files than the user was told.
func (p plan) merge(ctx context.Context, srv api.Doer) (thread.MergeReport, error) {
	req := p.request()
	if p.commit {
		look := req
		look.DryRun = true
		if now, err := api.Merge.Do(ctx, srv, look); err != nil || namesOf(now.Committed) != p.named {
			return now, cmp.Or(err, errOthersToCommit)
		}
	}
	return api.Merge.Do(ctx, srv, req)
}
