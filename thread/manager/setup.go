package manager

import (
	"context"
	"os"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// errSettingUp is returned for what has to wait for the end of a setup.
var errSettingUp = thread.Hint(setupRunningError{}, "wait until it has finished")

type setupRunningError struct{}

func (setupRunningError) Error() string { return "its setup is running" }

// Is makes it an ErrBusy.
func (setupRunningError) Is(target error) bool { return target == thread.ErrBusy }

// beginSetup marks a worktree's setup as running until runSetup or endSetup is called, and returns the state to store
// before it begins.
func (l *run) beginSetup() (thread.Setup, error) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if l.cfg.Setup == nil {
		return thread.Setup{}, nil
	}
	if !l.live.settingUp.take() {
		return thread.Setup{}, errSettingUp
	}
	return thread.Setup{State: thread.SetupRuns}, nil
}

func (l *run) setupRunning() bool {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	return l.live.settingUp == taken
}

// endSetup undoes beginSetup.
func (l *run) endSetup() {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.live.settingUp.release()
	l.live.show()
}

// runSetup prepares a thread's worktree, after the state "running" was stored. It continues when the client
// disconnects, and ends with the server. A setup that the end of the server interrupted is not run again without a
// person: it is half done, which may do damage a second time, and it may be what crashed the machine.
func (l *run) runSetup(store func(context.Context, func(*thread.Thread) error) error) error {
	defer l.endSetup()
	if l.cfg.Setup == nil || !l.work.begin() {
		return nil
	}
	defer l.work.done()
	ctx := l.work.closing
	failpoint.Hit("thread.setup.begun")
	err := l.cfg.Setup.SetUp(ctx, l.live.thread(), l.notices.about(l.live.id))
	if err != nil && ctx.Err() != nil {
		return err // it stays unfinished
	}
	failpoint.Hit("thread.setup.ran")
	var end thread.Setup
	if err != nil {
		end = thread.Setup{State: thread.SetupFailed, Detail: plaintext.Cut(secret.Redact(err.Error()), 1000)}
	}
	if serr := store(l.work.ctx, func(t *thread.Thread) error { t.Setup = end; return nil }); serr != nil {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: cannot record that its setup ended: %v", l.live.thread().DisplayName(), serr)
	}
	return err
}

// inTurn is update as a step of the thread's queue.
func (l *run) inTurn(ctx context.Context, change func(*thread.Thread) error) error {
	return l.live.do(ctx, func(ctx context.Context) error { return l.live.update(ctx, change) })
}

// tearDown runs the teardown of a worktree that is about to be removed. It returns why it failed or was not run, for
// people.
func (l *run) tearDown(t thread.Thread) (undone string) {
	if info, err := os.Stat(t.Worktree.Path); l.cfg.Setup == nil || err != nil || !info.IsDir() || !l.work.begin() {
		return ""
	}
	defer l.work.done()
	if err := l.cfg.Setup.TearDown(l.work.closing, t, l.notices.about(t.ID)); err != nil {
		return plaintext.Cut(secret.Redact(err.Error()), 1000)
	}
	return ""
}
