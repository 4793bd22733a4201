package manager

import (
	"time"

	"orchestrator/thread"
	"orchestrator/thread/turns"
)

// Some agents ask their models past the gateway although they were given its address: their own settings outrank it. No
// request tells of their turns then, but their hooks and transcripts do.

// aroundPause is how long to wait between two looks for the answer to a prompt that no request was made for.
const aroundPause = time.Second

// lookAround looks in the transcript for the answers to prompts that the agent is idle with and made no request for, until
// there is one or something else becomes of them. Agents say that they are idle before they have written down why; one
// that runs without the gateway is looked at once more for what the person typed in it, too. It does not block.
func (l *run) lookAround() {
	l.live.mu.Lock()
	direct := l.live.visibility == transcriptVisible // it was read just now
	due := l.live.session != nil && (direct || l.live.visibility == fullVisibility && l.live.asked.Open) &&
		l.live.searching.take()
	l.live.mu.Unlock()
	switch {
	case !due:
	case direct:
		l.live.later(aroundPause, l.search)
	case !l.live.enqueue(l.search):
		l.live.mu.Lock()
		l.live.searching.release()
		l.live.mu.Unlock()
	}
}

// search is the step that looks once.
func (l *run) search() {
	l.live.mu.Lock()
	l.live.searching.release()
	_, idle := idleSince(l.live.reported)
	idle = idle && l.live.session != nil && l.live.requests.Quiet()
	direct := l.live.visibility == transcriptVisible
	l.live.mu.Unlock()
	if !idle {
		return // the next idle state looks again
	}
	l.findSession()
	if direct {
		l.recorder.Poll(l.work.ctx)
		if len(l.unexplained()) > 0 {
			l.searchAgain()
		}
		return
	}
	texts := l.unexplained()
	switch {
	case len(texts) == 0:
	case l.recorder.Around(l.work.ctx, func(said string) bool { return len(turns.Claim(said, texts)) > 0 }):
		l.goesAround()
	default:
		l.searchAgain()
	}
}

// findSession adopts the session that an agent has opened, if nothing has told of it.
func (l *run) findSession() {
	l.live.mu.Lock()
	x := l.live.execution
	t := l.live.t
	l.live.mu.Unlock()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	finder, ok := agent.(thread.SessionFinder)
	if err != nil || !ok || x == nil || t.Session != "" {
		return
	}
	session, err := finder.FindSession(l.work.ctx, thread.FindSpec{
		Dir: t.Dir, StateDir: l.cfg.stateDir(t.ID), Env: l.environs.env(t), Since: x.Started,
		Prompts: l.unexplained(), Taken: func(session string) bool {
			taken, err := l.index.sessionTaken(l.live.id, session)
			return taken || err != nil // it is looked for again
		},
		Rivals: l.index.rivals(t),
	})
	if err != nil {
		l.cfg.Log.Warn("find the session of an agent", "thread", string(l.live.id), "err", err)
	}
	l.recorder.Adopt(l.work.ctx, session)
}

// unexplained returns the open prompts that no request was made for, and that no turn answers.
func (l *run) unexplained() (texts []string) {
	l.live.mu.Lock()
	requests := l.live.requests.Begun()
	l.live.mu.Unlock()
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	for _, p := range l.typist.outbox.Filter(func(p thread.Prompt) bool {
		begun, known := l.typist.outbox.Begun(p.ID)
		return p.State == thread.PromptOpen && p.Turn == 0 && known && begun >= requests
	}) {
		texts = append(texts, p.Text)
	}
	return texts
}

// searchAgain looks again after a pause.
func (l *run) searchAgain() {
	l.live.mu.Lock()
	due := l.live.searching.take()
	l.live.mu.Unlock()
	if due {
		l.live.later(aroundPause, l.search)
	}
}

// goesAround notes that the agent does not use the gateway.
func (l *run) goesAround() {
	l.live.mu.Lock()
	first := l.live.course == throughGateway
	l.live.course = aroundGateway
	l.live.show()
	l.live.mu.Unlock()
	if first {
		l.notices.post(l.live.id, thread.LevelWarn, "%s: %s", l.live.thread().DisplayName(), aroundNote)
	}
}

// aroundNote says what it means that an agent does not use the gateway.
const aroundNote = "its model requests do not come through the gateway, but its own configuration sends them elsewhere: turns " +
	"and costs are read from its transcript, and nothing is masked"
