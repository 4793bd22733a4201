package manager

import (
	"context"
	"os"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// errSettingUp refuses what has to wait for the end of a setup.
var errSettingUp = thread.Hint(setupRunningError{}, "wait for its end")

type setupRunningError struct{}

func (setupRunningError) Error() string { return "its setup is running" }

// Is makes it one of the errors that say "not now".
func (setupRunningError) Is(target error) bool { return target == thread.ErrBusy }

// beginSetup keeps others from setting a worktree up until runSetup or endSetup is called, and returns what is to be
// stored before it begins.
func (l *run) beginSetup() (thread.Setup, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settingUp {
		return thread.Setup{}, errSettingUp
	}
	if l.cfg.Setup == nil {
		return thread.Setup{}, nil
	}
	l.settingUp = true
	return thread.Setup{State: thread.SetupRuns}, nil
}

func (l *run) setupRunning() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settingUp
}

// endSetup ends what beginSetup began.
func (l *run) endSetup() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settingUp = false
	l.show()
}

// runSetup makes a thread's worktree ready to work in, of which is stored that its setup runs. It goes on when the
// client leaves, and ends with the server. One that the end of the server cut off is not run again without a person: a
// half of it is done, which may hurt a second time, and it may be what took the machine down.
func (l *run) runSetup(store func(context.Context, func(*thread.Thread) error) error) error {
	defer l.endSetup()
	if l.cfg.Setup == nil || !l.begin() {
		return nil
	}
	defer l.done()
	ctx, cancel := l.untilClosing()
	defer cancel()
	failpoint.Hit("thread.setup.begun")
	err := l.cfg.Setup.SetUp(ctx, l.thread(), l.about(l.id))
	if err != nil && ctx.Err() != nil {
		return err // it stays unfinished
	}
	failpoint.Hit("thread.setup.ran")
	var end thread.Setup
	if err != nil {
		end = thread.Setup{State: thread.SetupFailed, Detail: plaintext.Cut(secret.Redact(err.Error()), 1000)}
	}
	if serr := store(l.ctx, func(t *thread.Thread) error { t.Setup = end; return nil }); serr != nil {
		l.notice(l.id, thread.LevelWarn, "%s: that its setup has ended could not be stored: %v", l.thread().DisplayName(), serr)
	}
	return err
}

// inTurn is update as a step of the thread's queue.
func (l *run) inTurn(ctx context.Context, change func(*thread.Thread) error) error {
	return l.do(ctx, func(ctx context.Context) error { return l.update(ctx, change) })
}

// clear clears up in a thread's worktree that is about to be removed.
func (l *run) tearDown(t thread.Thread) {
	if info, err := os.Stat(t.Worktree.Path); l.cfg.Setup == nil || err != nil || !info.IsDir() || !l.begin() {
		return
	}
	defer l.done()
	ctx, cancel := l.untilClosing()
	defer cancel()
	l.cfg.Setup.TearDown(ctx, t, l.about(t.ID))
}
