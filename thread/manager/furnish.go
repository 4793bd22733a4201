package manager

import (
	"context"
	"fmt"
	"os"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// errSettingUp refuses what has to wait for the end of a setup.
var errSettingUp = thread.Hint(settingUp{}, "wait for its end")

type settingUp struct{}

func (settingUp) Error() string { return "its setup is running" }

// Is makes it one of the errors that say "not now".
func (settingUp) Is(target error) bool { return target == thread.ErrBusy }

// setup is a thread's as people see it. Manager.mu is held.
func (l *line) setup() thread.Setup {
	if l.t.Setup.State == thread.SetupRuns && !l.furnishing {
		return thread.Setup{State: thread.SetupUnfinished}
	}
	return l.t.Setup
}

// willFurnish keeps others from setting a worktree up until furnish or notFurnishing is called, and returns what is to be
// stored before it begins.
func (l *line) willFurnish() (thread.Setup, error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.furnishing {
		return thread.Setup{}, errSettingUp
	}
	if l.m.cfg.Furnisher == nil {
		return thread.Setup{}, nil
	}
	l.furnishing = true
	return thread.Setup{State: thread.SetupRuns}, nil
}

func (l *line) isFurnishing() bool {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.furnishing
}

// notFurnishing ends what willFurnish began.
func (l *line) notFurnishing() {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.furnishing = false
	l.m.show(l)
}

// furnish makes a thread's worktree ready to work in, of which is stored that its setup runs. It goes on when the
// client leaves, and ends with the server. One that the end of the server cut off is not run again without a person: a
// half of it is done, which may hurt a second time, and it may be what took the machine down.
func (l *line) furnish(store func(context.Context, func(*thread.Thread) error) error) error {
	m := l.m
	defer l.notFurnishing()
	if m.cfg.Furnisher == nil || !m.begin() {
		return nil
	}
	defer m.done()
	ctx, cancel := m.untilClosing()
	defer cancel()
	failpoint.Hit("thread.setup.begun")
	err := m.cfg.Furnisher.Furnish(ctx, l.thread(), m.about(l.id))
	if err != nil && ctx.Err() != nil {
		return err // it stays unfinished
	}
	failpoint.Hit("thread.setup.ran")
	var end thread.Setup
	if err != nil {
		end = thread.Setup{State: thread.SetupFailed, Detail: plaintext.Cut(secret.Redact(err.Error()), 1000)}
	}
	if serr := store(m.ctx, func(t *thread.Thread) error { t.Setup = end; return nil }); serr != nil {
		m.notice(l.id, thread.LevelWarn, "%s: that its setup has ended could not be stored: %v", l.thread().DisplayName(), serr)
	}
	return err
}

// inTurn is update as a step of the thread's queue.
func (l *line) inTurn(ctx context.Context, change func(*thread.Thread) error) error {
	return l.do(ctx, func(ctx context.Context) error { return l.update(ctx, change) })
}

// SetUp makes a thread's worktree ready to work in once more, as it is.
func (m *Manager) SetUp(ctx context.Context, ref string) (thread.Status, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	t := l.thread()
	switch info, err := os.Stat(t.Worktree.Path); {
	case t.Worktree.Path == "" || m.cfg.Furnisher == nil:
		return thread.Status{}, fmt.Errorf("set up %s: it has no worktree of its own: %w", t.Name, thread.ErrRefused)
	case err != nil || !info.IsDir():
		return thread.Status{}, thread.Hint(fmt.Errorf("set up %s: worktree %s: %w", t.Name, t.Worktree.Path, thread.ErrNotFound), "`orchestrator resume "+t.Name+"` makes it again and sets it up")
	}
	begins, err := l.willFurnish()
	if err != nil {
		return thread.Status{}, fmt.Errorf("set up %s: %w", t.Name, err)
	}
	if err := l.inTurn(ctx, func(t *thread.Thread) error { t.Setup = begins; return nil }); err != nil {
		l.notFurnishing()
		return thread.Status{}, fmt.Errorf("set up %s: %w", t.Name, err)
	}
	m.cfg.Furnisher.End(t)
	if err := l.furnish(l.inTurn); err != nil {
		return thread.Status{}, fmt.Errorf("set up %s: %w", t.Name, err)
	}
	return m.statusOf(l), nil
}

// nameUnfinished ends what is left of setups that the end of an earlier server cut off, and names their threads.
func (m *Manager) nameUnfinished() {
	if m.cfg.Furnisher == nil {
		return
	}
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		s := m.statusOf(l)
		if s.Setup.State != thread.SetupUnfinished || !s.Deleted.IsZero() || !s.Archived.IsZero() {
			continue
		}
		ended := ""
		if n := m.cfg.Furnisher.End(s.Thread); n > 0 {
			ended = fmt.Sprintf("; %d of its processes were still running and have been ended", n)
		}
		m.notice(l.id, thread.LevelWarn, "%s: %s%s", s.DisplayName(), s.SetupProblem(), ended)
	}
}

// clear clears up in a thread's worktree that is about to be removed.
func (m *Manager) clear(t thread.Thread) {
	if info, err := os.Stat(t.Worktree.Path); m.cfg.Furnisher == nil || err != nil || !info.IsDir() || !m.begin() {
		return
	}
	defer m.done()
	ctx, cancel := m.untilClosing()
	defer cancel()
	m.cfg.Furnisher.Clear(ctx, t, m.about(t.ID))
}

// untilClosing is a context that ends when Close begins: for what may take long and nothing depends on.
func (m *Manager) untilClosing() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(m.ctx)
	go func() { // ends with the context
		select {
		case <-m.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// ends reports whether the server is about to end.
func (m *Manager) ends() bool {
	select {
	case <-m.closing:
		return true
	default:
		return false
	}
}

// about tells people something about a thread.
func (m *Manager) about(id thread.ID) func(thread.Level, string) {
	return func(level thread.Level, text string) { m.notice(id, level, "%s", text) }
}
