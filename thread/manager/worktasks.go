package manager

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// mostBegun is how many executions of a task are looked at for one that has begun: the newest.
const mostBegun = 200

// noted takes that an execution has another state. It does not block.
func (m *workSessions) noted(x exec.Execution) {
	if x.Session != "" {
		m.look(taskOf{x.Session, x.Task}, false)
	}
}

// look has a task looked at. After a restart only what has happened to it since it was written counts.
func (m *workSessions) look(t taskOf, restart bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if was, is := m.due[t]; !is || was {
		m.due[t] = restart
	}
	if m.record == nil || m.busy || !m.work.begin() {
		return
	}
	m.busy = true
	go m.settle()
}

// settle brings the tasks that are due up to date, those that cannot be written now again and again.
func (m *workSessions) settle() {
	defer m.work.done()
	for {
		m.mu.Lock()
		due := m.due
		m.due = map[taskOf]bool{}
		if len(due) == 0 {
			m.busy = false
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
		failed := false
		for t, restart := range due {
			err := m.settleOne(m.work.ctx, t, restart)
			if err == nil || errors.Is(err, thread.ErrNotFound) || errors.Is(err, thread.ErrInvalid) {
				continue
			}
			m.cfg.Log.Warn("write the status of a task", "session", t.session, "err", err)
			failed = true
			m.mu.Lock()
			if _, is := m.due[t]; !is {
				m.due[t] = restart
			}
			m.mu.Unlock()
		}
		if !failed {
			continue
		}
		select {
		case <-time.After(retryAfter):
		case <-m.work.closing.Done(): // the next server finds it
			return
		}
	}
}

// settleOne writes the status of a task as its executions are, and of its work session if something of that has begun.
func (m *workSessions) settleOne(ctx context.Context, t taskOf, restart bool) error {
	list, err := m.record.Recorded(ctx, exec.RecordQuery{Session: t.session, Task: t.title, Limit: mostBegun})
	if err != nil || len(list) == 0 {
		return err
	}
	s, err := m.of(ctx, t.session)
	begun := false
	for _, x := range list {
		begun = begun || x.State != exec.Queued && x.Moves(s.By)
	}
	if err == nil && begun && s.Status == exec.SessionPlanning {
		err = m.change(ctx, t.session, (*exec.Session).Begin)
	}
	if err != nil && !errors.Is(err, thread.ErrRefused) { // it was ended meanwhile
		return err
	}
	if t.title == "" {
		return nil
	}
	return exec.SettleTask(ctx, m.record, m.cfg.now, t.session, t.title, restart)
}

// recover looks at the tasks that an earlier server left in progress.
func (m *workSessions) recover(ctx context.Context) error {
	if m.record == nil {
		return nil
	}
	list, err := m.record.Sessions(ctx, exec.SessionQuery{
		Statuses: []exec.SessionStatus{exec.SessionPlanning, exec.SessionExecuting}, Limit: mostSessions,
	})
	if err != nil {
		return err
	}
	for _, s := range list {
		tasks, err := m.record.Tasks(ctx, s.Name)
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if t.Status == exec.TaskPending || t.Status == exec.TaskInProgress {
				m.look(taskOf{s.Name, t.Title}, true)
			}
		}
	}
	return nil
}
