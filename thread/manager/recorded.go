package manager

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/recording"
)

// recorded is a thread as its recorder sees it: it implements recording.Live and recording.Reports.
type recorded struct {
	*typist
	// answered is called for every recorded main response, in the queue's step.
	answered func(ctx context.Context, l *liveThread, r recording.Response)
}

// recordingOf returns the configuration that all recorders share.
func recordingOf(m *core) recording.Config {
	return recording.Config{
		Store: m.cfg.Store, Past: m.past, Spool: m.cfg.Spool, Files: m.cfg.Worktrees, Agents: m.cfg.Agents,
		Models: m.cfg.Models, Env: m.env, MCPs: m.mcps, Clock: m.cfg.Clock, Log: m.cfg.Log,
	}
}

// Thread implements recording.Live.
func (l recorded) Thread() thread.Thread { return l.thread() }

// Gone implements recording.Live.
func (l recorded) Gone() bool { return l.isGone() }

// SessionTaken implements recording.Live.
func (l recorded) SessionTaken(session string) bool { return l.sessionTaken(l.id, session) }

// Windows implements recording.Live.
func (l recorded) Windows() map[string]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.windows
}

// Newer implements recording.Live.
func (l recorded) Newer() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.newer == nil {
		l.newer = make(chan struct{})
		if l.requests.Waiting() {
			close(l.newer)
		}
	}
	return l.newer
}

// SideCost implements recording.Live.
func (l recorded) SideCost() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sideCost
}

// Later implements recording.Live.
func (l recorded) Later(wait time.Duration, step func(ctx context.Context)) {
	l.later(wait, func() { step(l.ctx) })
}

// Read implements recording.Reports: a response from a transcript is held back like one through the gateway.
func (l recorded) Read(e thread.Exchange) (requests int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Main {
		l.requests.Await()
	} else {
		l.sideCost += e.Usage.CostUSD
	}
	return l.requests.Begun()
}

// Stored implements recording.Reports: it takes over the thread as stored and publishes the checkpoint.
func (l recorded) Stored(ctx context.Context, s recording.Stored) {
	l.mu.Lock()
	if s.Over {
		l.trouble = ""
	}
	l.sideCost -= s.SideCost
	l.mu.Unlock()
	if err := l.reread(ctx); err != nil {
		l.cfg.Log.Error("read the thread after a checkpoint", "thread", string(l.id), "err", err)
		l.rereadSoon()
	}
	l.bus.Publish(thread.Event{At: l.now(), Kind: thread.EventCheckpoint, ThreadID: l.id, Checkpoint: &s.Checkpoint})
}

// rereadPause is how long after a failure the thread is read again.
const rereadPause = time.Second

// rereadSoon reads the thread again until the store returns it: what is shown of it is older than what is stored.
func (l recorded) rereadSoon() {
	l.later(rereadPause, func() {
		if err := l.reread(l.ctx); err != nil && !errors.Is(err, thread.ErrNotFound) && l.ctx.Err() == nil {
			l.rereadSoon()
		}
	})
}

// Answered implements recording.Reports: it releases the answer.
func (l recorded) Answered(ctx context.Context, a recording.Answered) {
	if a.EndsTurn {
		l.markUnseen(ctx)
		if l.cfg.MCP != nil {
			l.cfg.MCP.TurnEnded(l.id)
		}
	}
	// Report first: releasing the answer first would briefly show an older state.
	l.reportUnless(a.Requests, a.Evidence)
	l.release()
}

// release counts an answer as durable that was held back until then.
func (l *typist) release() {
	l.mu.Lock()
	all := l.requests.Store(1)
	l.show()
	l.mu.Unlock()
	if all {
		l.scheduleTyping()
	}
}

// Recorded implements recording.Reports.
func (l recorded) Recorded(ctx context.Context, r recording.Response) {
	l.answered(ctx, &l.liveThread, r)
}

// Adopted implements recording.Reports.
func (l recorded) Adopted(ctx context.Context, session string) {
	if err := l.update(ctx, func(t *thread.Thread) error { t.Session = session; return nil }); err != nil {
		l.cfg.Log.Warn("store the session", "thread", string(l.id), "err", err)
	}
}

// Refused implements recording.Reports.
func (l recorded) Refused(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = why
	l.show()
}

// Waiting implements recording.Reports.
func (l recorded) Waiting(pending, unsaved int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending, l.unsaved = pending, unsaved
}

// Notice implements recording.Reports.
func (l recorded) Notice(level thread.Level, text string) { l.notice(l.id, level, "%s", text) }
