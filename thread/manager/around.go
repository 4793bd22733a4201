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
	l.mu.Lock()
	direct := l.visibility == transcriptVisible // it was read just now
	due := l.session != nil && !l.searching && (direct || l.visibility == fullVisibility && l.asked.Open)
	l.searching = l.searching || due
	l.mu.Unlock()
	switch {
	case !due:
	case direct:
		l.later(aroundPause, l.search)
	case !l.enqueue(l.search):
		l.mu.Lock()
		l.searching = false
		l.mu.Unlock()
	}
}

// search is the step that looks once.
func (l *run) search() {
	l.mu.Lock()
	l.searching = false
	_, idle := idleSince(l.reported)
	idle = idle && l.session != nil && l.requests.Quiet()
	direct := l.visibility == transcriptVisible
	l.mu.Unlock()
	if !idle {
		return // the next idle state looks again
	}
	l.findSession()
	if direct {
		l.recorder.Poll(l.ctx)
		if len(l.unexplained()) > 0 {
			l.searchAgain()
		}
		return
	}
	texts := l.unexplained()
	switch {
	case len(texts) == 0:
	case l.recorder.Around(l.ctx, func(said string) bool { return len(turns.Claim(said, texts)) > 0 }):
		l.goesAround()
	default:
		l.searchAgain()
	}
}

// findSession adopts the session that an agent has opened, if nothing has told of it.
func (l *run) findSession() {
	l.mu.Lock()
	x := l.execution
	t := l.t
	l.mu.Unlock()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	finder, ok := agent.(thread.SessionFinder)
	if err != nil || !ok || x == nil || t.Session != "" {
		return
	}
	session, err := finder.FindSession(l.ctx, thread.FindSpec{
		Dir: t.Dir, StateDir: l.stateDir(t.ID), Env: l.env(t), Since: x.Started,
		Prompts: l.unexplained(), Taken: func(session string) bool { return l.sessionTaken(l.id, session) },
		Rivals: l.rivals(t),
	})
	if err != nil {
		l.cfg.Log.Warn("find the session of an agent", "thread", string(l.id), "err", err)
	}
	l.recorder.Adopt(l.ctx, session)
}

// unexplained returns the open prompts that no request was made for, and that no turn answers.
func (l *run) unexplained() (texts []string) {
	l.mu.Lock()
	requests := l.requests.Begun()
	l.mu.Unlock()
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	for _, p := range l.outbox.Filter(func(p thread.Prompt) bool {
		begun, known := l.outbox.Begun(p.ID)
		return p.State == thread.PromptOpen && p.Turn == 0 && known && begun >= requests
	}) {
		texts = append(texts, p.Text)
	}
	return texts
}

// searchAgain looks again after a pause.
func (l *run) searchAgain() {
	l.mu.Lock()
	due := !l.searching
	l.searching = true
	l.mu.Unlock()
	if due {
		l.later(aroundPause, l.search)
	}
}

// goesAround notes that the agent does not use the gateway.
func (l *run) goesAround() {
	l.mu.Lock()
	first := !l.around
	l.around = true
	l.show()
	l.mu.Unlock()
	if first {
		l.notice(l.id, thread.LevelWarn, "%s: %s", l.thread().DisplayName(), aroundNote)
	}
}

// aroundNote says what it means that an agent does not use the gateway.
const aroundNote = "its model requests do not come through the gateway, but its own configuration sends them elsewhere: turns " +
	"and costs are read from its transcript, and nothing is masked"
