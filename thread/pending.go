package thread

import "context"

// Not built yet.

// Merge merges a thread's work.
func (m *Manager) Merge(ctx context.Context, r MergeRequest) (MergeReport, error) {
	return MergeReport{}, ErrUnsupported
}

// MergeContinue goes on with a merge whose conflicts are resolved.
func (m *Manager) MergeContinue(ctx context.Context, ref string) (MergeReport, error) {
	return MergeReport{}, ErrUnsupported
}

// MergeAbort takes a merge with conflicts back.
func (m *Manager) MergeAbort(ctx context.Context, ref string) error { return ErrUnsupported }

// Finish archives a merged thread and removes its worktree.
func (m *Manager) Finish(ctx context.Context, ref string) (MergeReport, error) {
	return MergeReport{}, ErrUnsupported
}
