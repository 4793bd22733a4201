package manager

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
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
	l.requests++
	l.flying++
	l.failure = ""
	m.mu.Unlock()
	// The start counts from when it was, however late it is told: the end may have been in the same millisecond.
	l.report(thread.Evidence{Source: thread.SourceGateway, State: thread.StateWorking, Detail: "request to " + cmp.Or(b.Model, "the model"), At: b.At, Again: b.Again})
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
	e := thread.Evidence{Source: thread.SourceGateway, At: at}
	switch s {
	case thread.StageUnconnected:
		e.State, e.Detail = thread.StateUnreachable, "no connection to the provider yet"
	case thread.StageSilent:
		e.State, e.Detail = thread.StateSilent, "the provider has not begun to answer"
	case thread.StageAnswering:
		e.State, e.Detail, e.Answers = thread.StateWorking, "the model answers", true
	default:
		return
	}
	l.report(e)
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
	requests := l.requests
	l.flying = max(0, l.flying-1)
	answered := e.Answer != nil || e.Unread
	if answered {
		l.unstored++
		l.arrived++
		m.show(l)
	}
	m.mu.Unlock()
	if !answered {
		f := failure(e)
		m.mu.Lock()
		if f.State != thread.StateUnknown && l.requests == requests {
			l.failure = f.Detail
		}
		m.mu.Unlock()
		l.reportUnless(requests, f)
		l.rest()
		return
	}
	held := hold(e)
	recorded := l.enqueue(func() {
		m.mu.Lock()
		l.arrived--
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

// failure is what an exchange without an answer says of the state.
func failure(e thread.Exchange) thread.Evidence {
	v := thread.Evidence{Source: thread.SourceGateway, At: e.Ended, Began: e.Started, Detail: e.Err, State: trouble(e)}
	if v.State == thread.StateLimited {
		v.Until = e.Until
	}
	if v.Detail == "" {
		v.Detail = fmt.Sprintf("the provider answered with status %d", e.Status)
	} else if e.Status != 0 {
		v.Detail = fmt.Sprintf("status %d: %s", e.Status, v.Detail)
	}
	return v
}

// trouble is the state that a failed exchange leads to. Where the agent itself gave the request up it is unknown: what
// comes next others must tell.
func trouble(e thread.Exchange) thread.State {
	switch e.Fault {
	case thread.FaultAgent:
		return thread.StateUnknown
	case thread.FaultUnreachable:
		return thread.StateUnreachable
	case thread.FaultLimited:
		return thread.StateLimited
	case thread.FaultUnauthorised:
		return thread.StateUnauthorised
	case thread.FaultNoAnswer:
		return thread.StateUnavailable
	default:
	}
	switch {
	case e.Status == 401 || e.Status == 403:
		return thread.StateUnauthorised
	case e.Status == 429 || e.Status == 529 || e.Status == 402:
		return thread.StateLimited
	case e.Status >= 500 || e.Status == 408 || e.Status == 0 && e.Err != "":
		return thread.StateUnavailable
	case e.Status >= 300 || e.Fault == thread.FaultError:
		return thread.StateFailed
	case e.Interrupted || e.Fault == thread.FaultCut:
		return thread.StateCut
	case e.EndsTurn:
		return thread.StateIdle // it answered nothing
	default:
		return thread.StateUnknown
	}
}

// outcome is what an exchange with an answer says of the state.
func outcome(e thread.Exchange, s thread.Source) thread.Evidence {
	v := thread.Evidence{Source: s, At: e.Ended, Began: e.Started}
	switch {
	case e.Unread:
		v.State, v.Detail = thread.StateUnknown, e.Err
	case e.Fault == thread.FaultAgent:
		v.State, v.Detail = thread.StateUnknown, "the agent gave the answer up"
	case e.Interrupted:
		v = failure(e)
		v.Source, v.Detail = s, "the answer was cut off: "+cmp.Or(e.Err, "no reason known")
	case e.EndsTurn:
		v.State, v.Detail = thread.StateIdle, "answered, stop reason "+cmp.Or(e.Stop, "unknown")
	case len(e.Tools) > 0:
		v.State, v.Detail = thread.StateWorking, "runs "+strings.Join(e.Tools, ", ")
	default:
		v.State, v.Detail = thread.StateWorking, "stop reason "+cmp.Or(e.Stop, "unknown")
	}
	return v
}
