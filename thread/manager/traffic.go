package manager

import (
	"cmp"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/turns"
)

// traffic handles the reports of the gateway and of the agents' hooks: it implements thread.Observer.
type traffic struct{ *registry }

// RequestStarted implements Observer.
func (m *traffic) RequestStarted(id thread.ID, b thread.Begun) {
	if !b.Main {
		return
	}
	l := m.run(id)
	if l == nil {
		return
	}
	m.mu.Lock()
	l.requests.Begin()
	l.ahead, l.around = b, false
	m.mu.Unlock()
	// The start counts from the time given, however late it is reported: the end may be in the same millisecond.
	l.report(activity.Started(b))
	if b.Prompt != "" && !b.Stale {
		m.promptKnown(id, b.Prompt)
		l.enqueue(func() { l.promptReceived(m.ctx, b.Prompt, false) })
	}
}

// RequestReached implements Observer.
func (m *traffic) RequestReached(id thread.ID, s thread.Stage, at time.Time) {
	l := m.run(id)
	if l == nil {
		return
	}
	if e, says := activity.Reached(s, at); says {
		l.report(e)
	}
}

// ExchangeEnded implements Observer. It returns at once; the thread's queue does the recording.
func (m *traffic) ExchangeEnded(id thread.ID, e thread.Exchange) {
	l := m.run(id)
	if l == nil {
		return
	}
	if !e.Main {
		m.mu.Lock()
		l.sideCost += e.Usage.CostUSD
		l.show()
		m.mu.Unlock()
		return
	}
	m.mu.Lock()
	requests := l.requests.Begun()
	answered := e.Answer != nil || e.Unread
	l.requests.End(answered)
	if !answered {
		l.ahead = thread.Begun{}
	} else {
		l.arrived()
		l.show()
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
		l.checkIdle()
		return
	}
	held := recording.Hold(e)
	recorded := l.enqueue(func() {
		m.mu.Lock()
		l.requests.Take()
		l.newer = nil
		if l.requests.Begun() == requests {
			l.ahead = thread.Begun{} // the answer's count is shown from now on
		}
		m.mu.Unlock()
		l.recorder.Answer(m.ctx, e, requests, held)
		l.answeredOther(requests)
	})
	if !recorded {
		held.End()
		m.cfg.Log.Error("an answer came after the server had stopped", "thread", string(id))
	}
}

// arrived tells the recorder that an answer has arrived. core.mu is held.
func (l *liveThread) arrived() {
	if l.newer == nil {
		l.newer = make(chan struct{})
	}
	select {
	case <-l.newer:
	default:
		close(l.newer)
	}
}

// Notice implements Observer. It names the thread.
func (m *traffic) Notice(id thread.ID, level thread.Level, text string) {
	if l := m.run(id); l != nil {
		text = l.thread().DisplayName() + ": " + text
	}
	m.notice(id, level, "%s", text)
}

// Spoke implements Observer.
func (m *traffic) Spoke(id thread.ID, s thread.Speech) {
	m.bus.Say(thread.Event{At: m.now(), Kind: thread.EventSpeech, ThreadID: id, Speech: &s})
}

// Hook implements Observer. A report takes effect after the answers that came before it: the thread shows no waiting
// state while one of them is not durable.
func (m *traffic) Hook(id thread.ID, event string, payload []byte) {
	l := m.run(id)
	if l == nil {
		return
	}
	m.mu.Lock()
	name, direct := l.t.Agent, l.visibility.direct()
	m.mu.Unlock()
	var r thread.HookReport
	ok := false
	if agent, err := m.cfg.Agents.Agent(name); err == nil {
		if reader, can := agent.(thread.HookReader); can {
			r, ok = reader.ReadHook(event, payload)
		}
	}
	if !ok {
		m.cfg.Log.Debug("hook report", "thread", string(id), "event", event)
		return
	}
	if r.State != "" {
		l.report(thread.Evidence{
			Source: thread.SourceHook, State: r.State, Detail: cmp.Or(r.Detail, "hook "+event), At: m.now(),
			Prompt: r.Prompt != "",
		})
	}
	if r.Session != "" {
		l.enqueue(func() { l.recorder.Adopt(m.ctx, r.Session) })
	}
	if r.Prompt != "" {
		if said := turns.Person(r.Prompt); said != "" {
			m.promptKnown(id, said)
		}
		l.enqueue(func() { l.promptReceived(m.ctx, r.Prompt, true) })
	}
	if direct && r.State == thread.StateIdle {
		l.enqueue(func() { l.recorder.Poll(m.ctx) })
	}
}
