package manager

import (
	"time"

	"orchestrator/thread"
)

// limitStep is the longest time between two looks at the clock while a provider's limit is waited for: clocks are set,
// and machines sleep.
const limitStep = 30 * time.Second

// limited reports whether the agent has given up because of a limit whose end is known and still to come: a prompt that
// were typed now would be refused again. Manager.mu is held.
func (l *line) limited() bool {
	r := l.shown
	return r.State == thread.StateLimited && r.Stuck && r.Until.After(l.m.now().Round(0))
}

// awaitLimit has what waits typed once the limit is over. desk.mu is held.
func (l *line) awaitLimit() {
	l.m.mu.Lock()
	due := !l.limited() || l.awaiting
	wait := l.shown.Until.Sub(l.m.now().Round(0))
	if !due {
		l.awaiting = true
	}
	l.m.mu.Unlock()
	if due {
		return
	}
	l.later(min(wait, limitStep), func() {
		l.m.mu.Lock()
		l.awaiting = false
		l.m.mu.Unlock()
		l.poke()
	})
}

// offerAgain says how a prompt that a limit refused can go on by itself when the limit ends, or has it do so where the
// settings say it.
func (l *line) offerAgain(p thread.Prompt) {
	m := l.m
	m.mu.Lock()
	limited, until, name := l.limited(), l.shown.Until.Local().Format("15:04"), l.t.Name
	m.mu.Unlock()
	if !limited || p.Again != "" && !m.cfg.Limits.Continue {
		return
	}
	if !m.cfg.Limits.Continue {
		m.notice(l.id, thread.LevelInfo, "%s: the limit ends at %s; `orchestrator prompts again %s` has prompt %s sent again then", name, until, p.ID, p.ID)
		return
	}
	l.enqueue(func() {
		if _, err := m.AskAgain(m.ctx, p.ID); err != nil {
			m.notice(l.id, thread.LevelWarn, "%s: prompt %s is not sent again when the limit ends: %v", name, p.ID, err)
			return
		}
		m.notice(l.id, thread.LevelInfo, "%s: the limit ends at %s; prompt %s is sent again then", name, until, p.ID)
	})
}
