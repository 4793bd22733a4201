package manager

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// fileLimit is how long a snapshot of the files may take at the start or the end of a process.
const fileLimit = 20 * time.Second

// filesNow keeps a thread's files as they are, and returns the commit; "" if there is no repository, or if that fails: what
// becomes of files is then not recorded.
func filesNow(ctx context.Context, l *run) string {
	if l.cfg.Worktrees == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, fileLimit)
	defer cancel()
	t := l.live.thread()
	s, err := l.cfg.Worktrees.Take(ctx, l.live.id, t.Dir, nil)
	if err != nil {
		if !errors.Is(err, thread.ErrNoRepository) {
			l.cfg.Log.Warn("keep the files at the start or end of a process", "thread", string(l.live.id), "err", err)
		}
		return ""
	}
	return s.Commit
}

// filesBefore returns what the files of an execution will be compared with.
func filesBefore(ctx context.Context, l *run, x exec.Execution) fileState {
	f := fileState{dir: home(l.live.thread())}
	if !x.ReadOnly && x.Base == "" {
		f.base = filesNow(ctx, l)
	}
	return f
}

// keepBefore stores what an execution's files will be compared with, before its process begins: what a server does not know
// that finds it after a crash, nobody can say any more. What the store refuses is stored with the next change.
func keepBefore(ctx context.Context, l *run, a *attempt, f fileState) {
	was := a.execution()
	if f.base == "" {
		return
	}
	x, err := l.open.change(ctx, was.ID, was.Fence, func(x *exec.Execution) error {
		f.into(x)
		return nil
	})
	if err != nil {
		l.cfg.Log.Warn("store what the files of a run are compared with", "execution", was.Name, "err", err)
		return
	}
	a.took(x)
}

// filesLeft keeps the files as an execution has left them whose server ended.
func filesLeft(ctx context.Context, l *run, x exec.Execution) (f fileState) {
	if x.Base != "" && !x.ReadOnly {
		f.result = filesNow(ctx, l)
	}
	return f
}

// filesAfter is the step that keeps the files as a process of an execution has left them.
func filesAfter(ctx context.Context, l *run, a *attempt) {
	a.mu.Lock()
	known := a.x.Base != "" || a.files.base != ""
	a.mu.Unlock()
	if !known {
		return
	}
	result := filesNow(ctx, l)
	a.mu.Lock()
	a.files.result = result
	a.mu.Unlock()
}
