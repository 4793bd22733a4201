package manager

import (
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
)

// RequestStarted implements Observer.
func (m *Manager) RequestStarted(id thread.ID, b thread.Begun) {
	if !b.Main {
		return
	}
	l := m.line(id)
	if l == nil {
		return
	}
	m.mu.Lock()
	l.requests.Begin()
	m.mu.Unlock()
	// The start counts from when it was, however late it is told: the end may have been in the same millisecond.
	l.report(activity.Started(b))
	if b.Prompt != "" {
		l.enqueue(func() { l.heard(m.ctx, b.Prompt, false) })
	}
}

// RequestReached implements Observer.
func (m *Manager) RequestReached(id thread.ID, s thread.Stage, at time.Time) {
	l := m.line(id)
	if l == nil {
		return
	}
	if e, says := activity.Reached(s, at); says {
		l.report(e)
	}
}

// ExchangeEnded implements Observer. It returns at once; recording is the line's work.
func (m *Manager) ExchangeEnded(id thread.ID, e thread.Exchange) {
	l := m.line(id)
	if l == nil {
		return
	}
	if !e.Main {
		m.mu.Lock()
		l.sideCost += e.Usage.CostUSD
		m.show(l)
		m.mu.Unlock()
		return
	}
	m.mu.Lock()
	requests := l.requests.Begun()
	answered := e.Answer != nil || e.Unread
	l.requests.End(answered)
	if answered {
		m.show(l)
	}
	m.mu.Unlock()
	if !answered {
		f := activity.Failure(e)
		m.mu.Lock()
		if f.State != thread.StateUnknown {
			l.requests.Fail(requests, f.Detail)
		}
		m.mu.Unlock()
		l.reportUnless(requests, f)
		l.rest()
		return
	}
	held := hold(e)
	recorded := l.enqueue(func() {
		m.mu.Lock()
		l.requests.Take()
		m.mu.Unlock()
		l.rec.answer(m.ctx, l, arrival{Exchange: e, requests: requests, held: held})
	})
	if !recorded {
		held.end()
		m.cfg.Log.Error("an answer came after the server had stopped", "thread", string(id))
	}
}

// Notice shows people what the gateway found about a thread.
func (m *Manager) Notice(id thread.ID, level thread.Level, text string) {
	m.notice(id, level, "%s", text)
}
