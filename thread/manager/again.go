package manager

import (
	"fmt"
	"time"

	"orchestrator/thread"
)

// restartLook is how long until it is checked again whether an agent that is to be restarted waits.
const restartLook = time.Second

// restartSoon has a thread's agent started again, natively, as soon as it waits, nothing is to be typed to it and its input
// is empty. why is for people: "it has Workflow".
func restartSoon(l *run, why string) {
	l.live.mu.Lock()
	l.live.restart = why
	l.live.mu.Unlock()
	l.live.enqueue(func() { restartIfIdle(l) })
}

// restartIfIdle is the step of restartSoon. Whoever starts the agent meanwhile has done it.
func restartIfIdle(l *run) {
	l.live.mu.Lock()
	why, s := l.live.restart, l.live.session
	waits := waiting(l.live.shown.State) && l.live.requests.Quiet()
	if s == nil || l.attempt != nil {
		s, l.live.restart = nil, "" // the next start has what it is for
	}
	l.live.mu.Unlock()
	if why == "" || s == nil {
		return
	}
	if l.live.thread().Base.Next == "" { // the person took back what it was for
		l.live.mu.Lock()
		l.live.restart = ""
		l.live.mu.Unlock()
		return
	}
	if !waits || l.typist.busy() || !ready(s) {
		l.live.later(restartLook, func() { restartIfIdle(l) })
		return
	}
	name := l.live.thread().DisplayName()
	ctx := l.work.ctx
	err := l.stop(ctx, "restarted")
	if err == nil {
		err = l.start(ctx, launchRequest{})
	}
	if err != nil {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: its agent was not restarted: %v. If it is stopped, use `orchestrator resume %s`",
			name, err, l.live.thread().Name)
		return
	}
	l.notices.tell(l.live.id, thread.Notice{
		Level: thread.LevelInfo, Kind: thread.HappenedContext, Text: fmt.Sprintf("%s was restarted: %s", name, why),
	})
}

// ready reports whether a session's input is empty, as far as that is known.
func ready(s thread.Session) bool {
	r, tells := s.(thread.Readier)
	return !tells || r.Ready() == nil
}
