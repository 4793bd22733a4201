package thread

import (
	"context"
	"fmt"
)

// Pusher sends branches to the person's remote. Optional for Merges.
type Pusher interface {
	// Push pushes a branch under its own name, never by force, and returns the remote's name.
	Push(ctx context.Context, dir, branch string) (remote string, err error)
	// OpenPR opens a pull request for a pushed branch and returns its address; an empty base is the
	// repository's default.
	OpenPR(ctx context.Context, dir, branch, base, title, body string) (address string, err error)
}

// PushRequest asks to push a thread's work.
type PushRequest struct {
	Thread  string `json:"thread"`
	Message string `json:"message,omitempty"` // of the commit; the label without it
	// PR also opens a pull request, with the summary of what the thread found as its text.
	PR   bool   `json:"pr,omitempty"`
	Base string `json:"base,omitempty"` // branch to merge into; the remote's default without it
}

// PushReport says where it went.
type PushReport struct {
	Branch string `json:"branch"`
	Remote string `json:"remote"`
	Commit string `json:"commit"`
	PR     string `json:"pr,omitempty"` // address of the pull request
}

// Push commits a thread's work with the person's identity and pushes its branch.
func (m *Manager) Push(ctx context.Context, r PushRequest) (PushReport, error) {
	l, err := m.find(r.Thread)
	if err != nil {
		return PushReport{}, err
	}
	t := l.thread()
	pusher, ok := m.cfg.Merges.(Pusher)
	switch {
	case !ok:
		return PushReport{}, fmt.Errorf("push %s: %w", t.Name, ErrNoRepository)
	case t.Worktree.Branch == "":
		return PushReport{}, Hint(fmt.Errorf("push %s: it has no branch of its own: %w", t.Name, ErrRefused), "fork it first, or push the project's branch with git")
	}
	on, err := m.standsOn(ctx, t)
	if err != nil {
		return PushReport{}, fmt.Errorf("push %s: %w", t.Name, err)
	}
	report := PushReport{Branch: on}
	m.merging.Lock()
	defer m.merging.Unlock()
	err = l.do(ctx, func(ctx context.Context) error {
		if err := l.idle(ctx); err != nil {
			return err
		}
		if _, err := l.safety(ctx, "before it was pushed", true); err != nil {
			return err
		}
		report.Commit, err = m.cfg.Merges.Commit(ctx, t.Worktree.Path, orWord(r.Message, orWord(firstLine(t.Label), t.Name)))
		return err
	})
	if err == nil {
		report.Remote, err = pusher.Push(ctx, t.Worktree.Path, on)
	}
	if err == nil && r.PR {
		body := orWord(m.lastAnswer(ctx, t), t.Label)
		report.PR, err = pusher.OpenPR(ctx, t.Worktree.Path, on, r.Base, orWord(firstLine(t.Label), t.Name), body)
	}
	if err != nil {
		return report, fmt.Errorf("push %s: %w", t.Name, err)
	}
	return report, nil
}
