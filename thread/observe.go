package thread

import (
	"fmt"
	"strings"
)

// RequestStarted implements Observer.
func (m *Manager) RequestStarted(id ID, main bool, model string) {
	if !main {
		return
	}
	l := m.line(id)
	if l == nil {
		return
	}
	m.mu.Lock()
	l.requests++
	l.flying++
	m.mu.Unlock()
	l.report(Evidence{Source: SourceGateway, State: StateWorking, Detail: "request to " + orWord(model, "the model"), At: m.now()})
}

// ExchangeEnded implements Observer. It returns at once; recording is the line's work.
func (m *Manager) ExchangeEnded(id ID, e Exchange) {
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
		l.reportUnless(requests, failure(e))
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
func (m *Manager) Notice(id ID, level Level, text string) { m.notice(id, level, "%s", text) }

// failure is what an exchange without an answer says of the state.
func failure(e Exchange) Evidence {
	v := Evidence{Source: SourceGateway, At: e.Ended, Detail: e.Err}
	switch {
	case e.Status == 401 || e.Status == 403:
		v.State = StateUnauthorised
	case e.Status == 429 || e.Status == 529 || e.Status == 402:
		v.State = StateLimited
	case e.Status >= 500 || e.Status == 0 && e.Err != "":
		v.State = StateUnavailable
	default:
		// A request the agent gave up, or one that was refused as wrong: others must tell.
		v.State = StateUnknown
	}
	if e.Interrupted && e.Status < 400 {
		v.State = StateUnknown
	}
	if v.Detail == "" {
		v.Detail = fmt.Sprintf("the provider answered with status %d", e.Status)
	} else if e.Status != 0 {
		v.Detail = fmt.Sprintf("status %d: %s", e.Status, v.Detail)
	}
	return v
}

// outcome is what an exchange with an answer says of the state.
func outcome(e Exchange, s Source) Evidence {
	v := Evidence{Source: s, At: e.Ended, Began: e.Started}
	switch {
	case e.Interrupted:
		v.State, v.Detail = StateUnknown, "the answer was cut off: "+orWord(e.Err, "no reason known")
	case e.Unread:
		v.State, v.Detail = StateUnknown, e.Err
	case e.EndsTurn:
		v.State, v.Detail = StateIdle, "answered, stop reason "+orWord(e.Stop, "unknown")
	case len(e.Tools) > 0:
		v.State, v.Detail = StateWorking, "runs "+strings.Join(e.Tools, ", ")
	default:
		v.State, v.Detail = StateWorking, "stop reason "+orWord(e.Stop, "unknown")
	}
	return v
}

func orWord(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
