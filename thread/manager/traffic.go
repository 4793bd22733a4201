package manager

import (
	"cmp"
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/turns"
)

// Traffic handles the reports of the gateway and of the agents' hooks: it implements thread.Observer.
type Traffic struct {
	cfg      *Config
	bus      *events.Bus
	work     *work
	notices  *notices
	registry *registry
	checker  *baseChecker
}

// FirstRequest takes the first main request with tools of a thread's agent since the gateway's route was opened for its
// process. It does not block.
func (m *Traffic) FirstRequest(id thread.ID, r thread.FirstRequest) {
	if l := m.registry.run(id); l != nil {
		m.checker.first(l.live, r)
	}
}

// RequestStarted implements Observer.
func (m *Traffic) RequestStarted(id thread.ID, b thread.Begun) {
	m.cfg.ledger.Began(id, b)
	if !b.Main {
		return
	}
	l := m.registry.run(id)
	if l == nil {
		return
	}
	l.live.mu.Lock()
	l.live.requests.Begin()
	l.live.ahead, l.live.course = b, throughGateway
	l.live.mu.Unlock()
	if a := attemptOf(l); a != nil {
		a.reaches(true) // it was quicker than what it printed before
	}
	// The start counts from the time given, however late it is reported: the end may be in the same millisecond.
	l.live.report(activity.Started(b))
	if b.Prompt != "" && !b.Stale {
		m.cfg.promptKnown(id, b.Prompt)
		m.cfg.ledger.Asked(id, b.Prompt)
		l.live.enqueue(func() {
			l.promptReceived(m.work.ctx, b.Prompt, false)
			l.live.says(thread.LineOfPrompt(b.Prompt))
		})
	}
}

// RequestReached implements Observer.
func (m *Traffic) RequestReached(id thread.ID, s thread.Stage, at time.Time) {
	l := m.registry.run(id)
	if l == nil {
		return
	}
	if e, says := activity.Reached(s, at); says {
		l.live.report(e)
	}
}

// ExchangeEnded implements Observer. It returns at once; the thread's queue does the recording.
func (m *Traffic) ExchangeEnded(id thread.ID, e thread.Exchange) {
	l := m.registry.run(id)
	if l == nil {
		return
	}
	m.cfg.ledger.Exchange(id, e)
	if !e.Main {
		l.live.mu.Lock()
		l.live.sideCost += e.Usage.CostUSD
		l.live.show()
		l.live.mu.Unlock()
		if a := attemptOf(l); a != nil {
			a.usedBeside(e.Usage)
		}
		if e.Purpose == "compaction" && e.Answer != nil && !e.Interrupted {
			l.live.enqueue(l.compacted)
		}
		return
	}
	if a := attemptOf(l); a != nil {
		p := activity.Provider(e)
		if a.saw(p) && l.open.ways.answered(a.execution()) {
			l.open.look()
		}
		if a.insisting(p) {
			l.live.enqueue(func() { kill(l.work.ctx, l, a) }) // what follows is decided at its end
		}
	}
	l.live.mu.Lock()
	requests := l.live.requests.Begun()
	answered := e.Answer != nil || e.Unread
	l.live.requests.End(answered)
	if !answered {
		l.live.ahead = thread.Begun{}
	} else {
		l.live.arrived()
		l.live.show()
	}
	l.live.mu.Unlock()
	if !answered {
		f := activity.Failure(e)
		l.live.mu.Lock()
		if f.State != thread.StateUnknown {
			l.live.requests.Fail(requests, f.Detail)
		}
		l.live.mu.Unlock()
		l.live.reportUnless(requests, f)
		l.typist.checkIdle()
		return
	}
	held := recording.Hold(e)
	recorded := l.live.enqueue(func() {
		l.live.mu.Lock()
		l.live.requests.Take()
		l.live.newer = nil
		if l.live.requests.Begun() == requests {
			l.live.ahead = thread.Begun{} // the answer's count is shown from now on
		}
		l.live.mu.Unlock()
		l.recorder.Answer(m.work.ctx, e, requests, held)
		l.answeredOther(requests)
	})
	if !recorded {
		held.End()
		m.cfg.Log.Error("an answer came after the server had stopped", "thread", string(id))
	}
}

// arrived tells the recorder that an answer has arrived. liveThread.mu is held.
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

// Notice implements Observer: what the gateway tells is about what fills a context. It names the thread.
func (m *Traffic) Notice(id thread.ID, level thread.Level, text string) {
	m.Tell(id, thread.Notice{Level: level, Text: text, Kind: thread.HappenedContext})
}

// Tell shows people a notice about a thread, or the project if id is empty. It names the thread.
func (m *Traffic) Tell(id thread.ID, n thread.Notice) {
	if l := m.registry.run(id); l != nil {
		n.Text = l.live.thread().DisplayName() + ": " + n.Text
	}
	m.notices.tell(id, n)
}

// Spoke implements Observer.
func (m *Traffic) Spoke(id thread.ID, s thread.Speech) {
	m.bus.Say(thread.Event{At: m.cfg.now(), Kind: thread.EventSpeech, ThreadID: id, Speech: &s})
}

// Hook implements Observer. A report takes effect after the answers that came before it: the thread shows no waiting
// state while one of them is not durable.
func (m *Traffic) Hook(id thread.ID, event string, payload []byte) {
	l := m.registry.run(id)
	if l == nil {
		return
	}
	l.live.mu.Lock()
	name, direct := l.live.t.Agent, l.live.visibility.direct()
	l.live.mu.Unlock()
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
		l.live.report(thread.Evidence{
			Source: thread.SourceHook, State: r.State, Detail: cmp.Or(r.Detail, "hook "+event), At: m.cfg.now(),
			Prompt: r.Prompt != "",
		})
	}
	if r.Sub != nil {
		m.cfg.ledger.Hook(id, *r.Sub)
	}
	if r.Session != "" {
		l.live.enqueue(func() { l.recorder.Adopt(m.work.ctx, r.Session) })
	}
	if r.Prompt != "" {
		if said := turns.Person(r.Prompt); said != "" {
			m.cfg.promptKnown(id, said)
			m.cfg.ledger.Asked(id, said)
		}
		l.live.enqueue(func() { l.promptReceived(m.work.ctx, r.Prompt, true) })
	}
	if direct && r.State == thread.StateIdle {
		l.live.enqueue(func() { l.recorder.Poll(m.work.ctx) })
	}
}

// Asked implements Observer.
func (m *Traffic) Asked(id thread.ID, event string, payload []byte) func(context.Context) []byte {
	l := m.registry.run(id)
	if l == nil {
		return nil
	}
	agent, err := m.cfg.Agents.Agent(l.live.thread().Agent)
	if err != nil {
		return nil
	}
	decider, can := agent.(thread.HookDecider)
	if !can {
		return nil
	}
	ask, ok := decider.ReadAsk(event, payload)
	if !ok {
		return nil
	}
	return func(ctx context.Context) []byte { return l.live.hooks.wait(ctx, ask) }
}
