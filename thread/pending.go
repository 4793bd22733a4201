package thread

import "context"

// Not built yet.

// Fork makes a thread at a point of another.
func (m *Manager) Fork(ctx context.Context, r ForkRequest) (Status, error) {
	return Status{}, ErrUnsupported
}

// Timeline returns the checkpoints a thread stands on, newest first, across its fork point.
func (m *Manager) Timeline(ctx context.Context, ref string, p Page) ([]Checkpoint, error) {
	return nil, ErrUnsupported
}

// Turn returns what was said and done in the turn of a point.
func (m *Manager) Turn(ctx context.Context, ref, at string) ([]Entry, error) {
	return nil, ErrUnsupported
}

// Rewind sets a thread back.
func (m *Manager) Rewind(ctx context.Context, r RewindRequest) (RewindReport, error) {
	return RewindReport{}, ErrUnsupported
}

// Diff compares two points of a thread.
func (m *Manager) Diff(ctx context.Context, r DiffRequest) ([]FileDiff, error) {
	return nil, ErrUnsupported
}

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

// Find searches names, prompts and answers.
func (m *Manager) Find(ctx context.Context, query string, limit int) ([]Hit, error) {
	return nil, ErrUnsupported
}
