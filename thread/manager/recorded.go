package manager

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
)

// recorded is a thread as its recorder sees it: it implements recording.Live and recording.Reports.
type recorded struct {
	live    *liveThread
	typist  *typist
	cfg     *Config
	bus     *events.Bus
	work    *work
	notices *notices
	index   *index
	past    past.Reader
	// answered is called for every recorded main response, in the queue's step.
	answered func(ctx context.Context, l *liveThread, r recording.Response)
}

// Thread implements recording.Live.
func (l recorded) Thread() thread.Thread { return l.live.thread() }

// Gone implements recording.Live.
func (l recorded) Gone() bool { return l.live.isGone() }

// SessionTaken implements recording.Live.
func (l recorded) SessionTaken(session string) (bool, error) {
	return l.index.sessionTaken(l.live.id, session)
}

// Windows implements recording.Live.
func (l recorded) Windows() map[string]int64 {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	return l.live.windows
}

// Newer implements recording.Live.
func (l recorded) Newer() <-chan struct{} {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if l.live.newer == nil {
		l.live.newer = make(chan struct{})
		if l.live.requests.Waiting() {
			close(l.live.newer)
		}
	}
	return l.live.newer
}

// SideCost implements recording.Live.
func (l recorded) SideCost() float64 {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	return l.live.sideCost
}

// Later implements recording.Live.
func (l recorded) Later(wait time.Duration, step func(ctx context.Context)) {
	l.live.later(wait, func() { step(l.work.ctx) })
}

// Read implements recording.Reports: a response from a transcript is held back like one through the gateway.
func (l recorded) Read(e thread.Exchange) (requests int) {
	l.cfg.ledger.Exchange(l.live.id, e)
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if e.Main {
		l.live.requests.Await()
	} else {
		l.live.sideCost += e.Usage.CostUSD
	}
	return l.live.requests.Begun()
}

// Stored implements recording.Reports: it takes over the thread as stored and publishes the checkpoint.
func (l recorded) Stored(ctx context.Context, s recording.Stored) {
	l.live.mu.Lock()
	if s.Over {
		l.live.trouble = ""
	}
	l.live.sideCost -= s.SideCost
	l.live.mu.Unlock()
	if err := l.live.reread(ctx); err != nil {
		l.cfg.Log.Error("read the thread after a checkpoint", "thread", string(l.live.id), "err", err)
		l.rereadSoon()
	}
	l.bus.Publish(thread.Event{At: l.cfg.now(), Kind: thread.EventCheckpoint, ThreadID: l.live.id, Checkpoint: &s.Checkpoint})
}

// rereadPause is how long after a failure the thread is read again.
const rereadPause = time.Second

// rereadSoon reads the thread again until the store returns it: what is shown of it is older than what is stored.
func (l recorded) rereadSoon() {
	l.live.later(rereadPause, func() {
		if err := l.live.reread(l.work.ctx); err != nil && !errors.Is(err, thread.ErrNotFound) && l.work.ctx.Err() == nil {
			l.rereadSoon()
		}
	})
}

// Answered implements recording.Reports: it releases the answer.
func (l recorded) Answered(ctx context.Context, a recording.Answered) {
	if a.EndsTurn {
		l.live.markUnseen(ctx)
		if l.cfg.MCP != nil {
			l.cfg.MCP.TurnEnded(l.live.id)
		}
	}
	// Report first: releasing the answer first would briefly show an older state.
	l.live.reportUnless(a.Requests, a.Evidence)
	l.typist.release()
}

// release counts an answer as durable that was held back until then.
func (l *typist) release() {
	l.live.mu.Lock()
	all := l.live.requests.Store(1)
	l.live.show()
	l.live.mu.Unlock()
	if all {
		l.wake()
	}
}

// Recorded implements recording.Reports.
func (l recorded) Recorded(ctx context.Context, r recording.Response) {
	items := r.News
	if r.Answer != nil {
		items = []thread.Item{*r.Answer}
	}
	l.live.says(thread.LineOf(l.past.Entries(items)))
	l.answered(ctx, l.live, r)
}

// Adopted implements recording.Reports.
func (l recorded) Adopted(ctx context.Context, session string) {
	if err := l.live.update(ctx, func(t *thread.Thread) error { t.Session = session; return nil }); err != nil {
		l.cfg.Log.Warn("store the session", "thread", string(l.live.id), "err", err)
	}
}

// Refused implements recording.Reports.
func (l recorded) Refused(why string) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.live.trouble = why
	l.live.show()
}

// Waiting implements recording.Reports.
func (l recorded) Waiting(pending, unsaved int) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.live.pending, l.live.unsaved = pending, unsaved
}

// Notice implements recording.Reports.
func (l recorded) Notice(level thread.Level, text string) {
	l.notices.post(l.live.id, level, "%s", text)
}
