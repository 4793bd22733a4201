package merge

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"orchestrator/thread"
)

// Server is what a merge needs of the server.
type Server interface {
	Merge(context.Context, thread.MergeRequest) (thread.MergeReport, error)
	MergeContinue(ctx context.Context, ref string) (thread.MergeReport, error)
	MergeAbort(ctx context.Context, ref string) error
}

// plan is what is to be merged: a thread, into another or into its parent, and whether the thread is done with then.
// With commit, what is not committed where it goes is committed first.
type plan struct {
	id, into       thread.ID
	finish, commit bool
	named          string // what the person was told would be committed
}

// errOthersToCommit says that what a merge would commit first is not what the person was asked about.
var errOthersToCommit = errors.New("look again: other files are not committed now")

// namesOf is a list of paths that can be compared.
func namesOf(paths []string) string { return strings.Join(paths, "\x00") }

func (p plan) request() thread.MergeRequest {
	return thread.MergeRequest{Thread: string(p.id), Into: string(p.into), Finish: p.finish, CommitInto: p.commit}
}

// looked is what a merge would do. Where work that is not committed is in its way, the plan is to commit it first.
type looked struct {
	plan
	report thread.MergeReport
}

// look asks the server what a merge would do.
func (p plan) look(ctx context.Context, srv Server) (looked, error) {
	req := p.request()
	req.DryRun = true
	r, err := srv.Merge(ctx, req)
	if !p.commit && errors.Is(err, thread.ErrConflict) {
		req.CommitInto = true
		if with, no := srv.Merge(ctx, req); no == nil && len(with.Committed) > 0 {
			p.commit, p.named, r, err = true, namesOf(with.Committed), with, nil
		}
	}
	return looked{p, r}, err
}

// merge asks the server to merge, unless it would commit other files than the person was told.
func (p plan) merge(ctx context.Context, srv Server) (thread.MergeReport, error) {
	req := p.request()
	if p.commit {
		look := req
		look.DryRun = true
		if now, err := srv.Merge(ctx, look); err != nil || namesOf(now.Committed) != p.named {
			return now, cmp.Or(err, errOthersToCommit)
		}
	}
	return srv.Merge(ctx, req)
}
