package thread

import "context"

// Not built yet.

// List returns all threads but the deleted ones, oldest first.
func (m *Manager) List(ctx context.Context) ([]Status, error) { return nil, ErrUnsupported }

// Events returns what happens from now on, until ctx ends. A subscriber that falls behind sees a gap in Seq and lists again.
func (m *Manager) Events(ctx context.Context) (<-chan Event, error) { return nil, ErrUnsupported }

// New makes a thread and starts its agent.
func (m *Manager) New(ctx context.Context, r NewRequest) (Status, error) {
	return Status{}, ErrUnsupported
}

// Fork makes a thread at a point of another.
func (m *Manager) Fork(ctx context.Context, r ForkRequest) (Status, error) {
	return Status{}, ErrUnsupported
}

// Start starts a thread's agent where it left off.
func (m *Manager) Start(ctx context.Context, ref string, cols, rows int) (Status, error) {
	return Status{}, ErrUnsupported
}

// Resume is Start.
func (m *Manager) Resume(ctx context.Context, ref string, cols, rows int) (Status, error) {
	return Status{}, ErrUnsupported
}

// ResumeAll resumes every interrupted thread.
func (m *Manager) ResumeAll(ctx context.Context, cols, rows int) ([]Status, error) {
	return nil, ErrUnsupported
}

// StopAgent stops a thread's agent.
func (m *Manager) StopAgent(ctx context.Context, ref string) error { return ErrUnsupported }

// Send types a prompt into a thread's agent.
func (m *Manager) Send(ctx context.Context, ref, text string) error { return ErrUnsupported }

// Switch asks the clients to show a thread.
func (m *Manager) Switch(ctx context.Context, ref string) (Status, error) {
	return Status{}, ErrUnsupported
}

// Seen notes that a person has looked at a thread.
func (m *Manager) Seen(ctx context.Context, ref string) error { return ErrUnsupported }

// Rename gives a thread another name.
func (m *Manager) Rename(ctx context.Context, ref, name string) (Status, error) {
	return Status{}, ErrUnsupported
}

// Pin pins or unpins a thread.
func (m *Manager) Pin(ctx context.Context, ref string, pinned bool) error { return ErrUnsupported }

// Archive stops a thread's agent and puts the thread away.
func (m *Manager) Archive(ctx context.Context, ref string) error { return ErrUnsupported }

// Unarchive brings an archived thread back.
func (m *Manager) Unarchive(ctx context.Context, ref string) error { return ErrUnsupported }

// Delete hides a thread; Undelete brings it back until it is purged.
func (m *Manager) Delete(ctx context.Context, ref string) error { return ErrUnsupported }

// Undelete brings a deleted thread back.
func (m *Manager) Undelete(ctx context.Context, ref string) error { return ErrUnsupported }

// Abandon records that a thread came to nothing, and why.
func (m *Manager) Abandon(ctx context.Context, ref, reason string) error { return ErrUnsupported }

// Why says what speaks for a thread's state.
func (m *Manager) Why(ctx context.Context, ref string) (StateReport, error) {
	return StateReport{}, ErrUnsupported
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

// AnswerOffer answers a fork suggestion: take, dismiss or off.
func (m *Manager) AnswerOffer(ctx context.Context, offerID, answer string) (Status, error) {
	return Status{}, ErrUnsupported
}

// RequestStarted implements Observer.
func (m *Manager) RequestStarted(id ID, main bool, model string) {}

// ExchangeEnded implements Observer.
func (m *Manager) ExchangeEnded(id ID, e Exchange) {}

// Hook implements Observer.
func (m *Manager) Hook(id ID, event string, payload []byte) {}
