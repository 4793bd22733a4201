package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	exec "orchestrator/thread/work"
)

// A run that must only read works in a place that the witness gives it, a worktree with the files as they are when it
// starts. The thread's folder is that place from before the process is started until after it has ended and is recorded,
// so that everything that looks for the agent's files finds them: resuming, recording, the agent's trust. Once.From keeps
// the thread's own folder meanwhile; a start of the server finds by it what a crash left, and goes back to it.

// enterPlace is the step that gives the process of a read-only execution its place, before anything is prepared there.
// Without a repository there is none: the run works in the folder itself, which nobody watches, and its record says so.
func enterPlace(ctx context.Context, l *run, a *attempt) error {
	x := a.execution()
	if l.cfg.Runs.Witness == nil || !x.ReadOnly {
		return nil
	}
	t := l.live.thread()
	own := cmp.Or(t.Once.From, t.Dir)
	p, err := l.cfg.Runs.Witness.Join(ctx, x, own)
	if errors.Is(err, thread.ErrNoRepository) {
		a.note("its folder is in no git repository: nobody watches whether files are changed")
		return nil
	}
	if err != nil {
		return err
	}
	a.placed = true
	failpoint.Hit("thread.place.joined")
	err = l.live.update(ctx, func(t *thread.Thread) error {
		t.Once.From, t.Dir = own, p.Dir
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the place to read in: %w", err)
	}
	failpoint.Hit("thread.place.entered")
	return nil
}

// leavePlace is the step after the end of a process that looks what was changed in its place, and takes the thread back
// to its own folder. It returns why the execution has failed by that, "" if it has not.
func leavePlace(ctx context.Context, l *run, a *attempt) string {
	defer goHome(ctx, l)
	if !a.placed {
		return ""
	}
	a.placed = false
	traces, err := l.cfg.Runs.Witness.Leave(ctx, a.id)
	if err != nil {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: %s: %v", l.live.thread().DisplayName(), a.name, err)
	}
	failpoint.Hit("thread.place.left")
	why := traces.Reason()
	switch {
	case why != "":
		for _, path := range traces.Changed[:min(len(traces.Changed), noted)] {
			a.note("changed: " + path)
		}
		if traces.Saved.Commit != "" {
			a.note("what was changed is kept in commit " + traces.Saved.Commit)
		}
	case err != nil:
		why = "whether it changed files is not known: " + reason(err)
	}
	return why
}

// noted is how many changed paths the record of an execution names.
const noted = 100

// goHome has a thread work in its own folder again.
func goHome(ctx context.Context, l *run) {
	if l.live.thread().Once.From == "" {
		return
	}
	err := l.live.update(ctx, func(t *thread.Thread) error {
		if t.Once.From != "" {
			t.Dir, t.Once.From = t.Once.From, ""
		}
		return nil
	})
	if err != nil { // the next start in it, or of the server, does it
		l.cfg.Log.Warn("store the thread's own folder", "thread", string(l.live.id), "err", err)
	}
}

// home is a thread's own folder, wherever a run of it works.
func home(t thread.Thread) string { return cmp.Or(t.Once.From, t.Dir) }

// unwitnessed fails what was not cancelled, if files were changed or nobody knows, and reports whether it did. It is not
// tried again.
func (v *verdict) unwitnessed(why string) bool {
	if why == "" || v.state == exec.Cancelled {
		return false
	}
	v.state, v.reason = exec.Failed, why
	return true
}
