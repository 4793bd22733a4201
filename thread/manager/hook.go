package manager

import (
	"cmp"

	"orchestrator/thread"
)

// Hook implements Observer. What a report says counts after the answers that came before it: the
// thread shows no waiting state while one of them is not durable.
func (m *Manager) Hook(id thread.ID, event string, payload []byte) {
	l := m.line(id)
	if l == nil {
		return
	}
	m.mu.Lock()
	name, direct := l.t.Agent, l.direct
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
		l.report(thread.Evidence{Source: thread.SourceHook, State: r.State, Detail: cmp.Or(r.Detail, "hook "+event), At: m.now(), Prompt: r.Prompt != ""})
	}
	if r.Session != "" {
		l.enqueue(func() { l.rec.adopt(m.ctx, l, r.Session) })
	}
	if r.Prompt != "" {
		l.enqueue(func() { l.heard(m.ctx, r.Prompt, true) })
	}
	if direct && r.State == thread.StateIdle {
		l.enqueue(func() { l.rec.poll(m.ctx, l) })
	}
}
