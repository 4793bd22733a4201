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
// there is one or something else becomes of them. It does not block.
func (l *run) lookAround() {
	l.mu.Lock()
	due := l.session != nil && l.visibility == fullVisibility && l.asked.Open && !l.searching
	if due {
		l.searching = true
	}
	l.mu.Unlock()
	if due && !l.enqueue(l.search) {
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
	requests := l.requests.Begun()
	l.mu.Unlock()
	if !idle {
		return // the next idle state looks again
	}
	l.outbox.mu.Lock()
	waiting := l.outbox.Filter(func(p thread.Prompt) bool {
		begun, known := l.outbox.Begun(p.ID)
		return p.State == thread.PromptOpen && p.Turn == 0 && known && begun >= requests
	})
	l.outbox.mu.Unlock()
	if len(waiting) == 0 {
		return
	}
	texts := make([]string, len(waiting))
	for i, p := range waiting {
		texts[i] = p.Text
	}
	if !l.recorder.Around(l.ctx, func(said string) bool { return len(turns.Claim(said, texts)) > 0 }) {
		l.mu.Lock()
		due := !l.searching
		l.searching = true
		l.mu.Unlock()
		if due {
			l.later(aroundPause, l.search)
		}
		return
	}
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
