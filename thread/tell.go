package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread/secret"
)

// sendTimeout is how long an agent may take to accept a prompt that nobody waits for.
const sendTimeout = 2 * time.Minute

// toldKey is the setting that holds what a thread's agent is still to be told.
func toldKey(id ID) string { return "tell:" + string(id) }

// tell sends a text to a thread's agent when it waits for a prompt, and keeps it until it does.
func (m *Manager) tell(ctx context.Context, l *line, text string) {
	err := l.do(ctx, func(ctx context.Context) error {
		waiting, err := m.untold(ctx, l.id)
		if err != nil {
			return err
		}
		return m.keepUntold(ctx, l, append(waiting, text))
	})
	if err != nil {
		m.notice(l.id, LevelWarn, "%s could not be told of the merge: %v", l.thread().Name, err)
		return
	}
	l.enqueue(func() { l.deliver(m.ctx) })
}

// untold reads what a thread's agent is still to be told.
func (m *Manager) untold(ctx context.Context, id ID) ([]string, error) {
	raw, err := m.cfg.Store.Setting(ctx, toldKey(id))
	if err != nil || raw == "" {
		return nil, err
	}
	var texts []string
	if err := json.Unmarshal([]byte(raw), &texts); err != nil {
		return nil, nil //nolint:nilerr // written by us alone; what cannot be read is not worth a failure
	}
	return texts, nil
}

func (m *Manager) keepUntold(ctx context.Context, l *line, texts []string) error {
	raw := ""
	if len(texts) > 0 {
		b, err := json.Marshal(texts)
		if err != nil {
			return err
		}
		raw = string(b)
	}
	if err := m.cfg.Store.SetSetting(ctx, toldKey(l.id), raw); err != nil {
		return fmt.Errorf("keep what is to be told: %w", err)
	}
	l.waits(len(texts) > 0)
	return nil
}

// waits notes whether something waits to be told.
func (l *line) waits(some bool) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.untold = some
}

// recall is the step that notes, at a start, what an earlier run of the agent was not told. What it
// was told when our process was killed is the newest turn's prompt.
func (l *line) recall(ctx context.Context) {
	texts, err := l.m.untold(ctx, l.id)
	if err != nil || len(texts) == 0 {
		return
	}
	l.waits(true)
	newest, err := l.m.cfg.Store.Checkpoints(ctx, l.id, Page{Turns: true, Limit: 1})
	if err != nil || len(newest) == 0 || !sameText(newest[0].Prompt, texts[0]) && !closesWith(newest[0].Prompt, texts[0]) {
		return
	}
	if err := l.m.keepUntold(ctx, l, texts[1:]); err != nil {
		l.m.cfg.Log.Warn("forget what a thread was told", "thread", string(l.id), "err", err)
	}
}

// sameText compares the beginnings of two prompts; agents change white space.
func sameText(a, b string) bool {
	const enough = 500 // bytes: what is told of a merge names its commit before
	bare := func(s string) string { return excerptOf(strings.Join(strings.Fields(secret.Redact(s)), " "), enough) }
	return bare(a) == bare(b)
}

// closesWith reports whether a prompt ends with a text: what an agent is told before it stands before.
func closesWith(prompt, text string) bool {
	bare := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return strings.HasSuffix(bare(prompt), bare(text))
}

// deliver is the step that sends the oldest text that waits, if the agent takes a prompt now. It stays
// stored until the agent has it: neither a stop nor a crash loses it.
func (l *line) deliver(ctx context.Context) {
	m := l.m
	m.mu.Lock()
	s, state := l.session, l.shown.State
	if s == nil || !l.hasToTell() || state != StateIdle && state != StateDone {
		m.mu.Unlock()
		return
	}
	first, wait := l.takeFirst(s)
	m.mu.Unlock()
	if first != nil {
		l.typeFirst(first)
	}
	if first != nil || wait {
		return
	}
	texts, err := m.untold(ctx, l.id)
	if err != nil || len(texts) == 0 {
		return
	}
	err = m.send(s, texts[0])
	if later := (*NotReadyError)(nil); errors.Is(err, errClosed) || errors.As(err, &later) {
		return // it stays stored; OnReady has it tried again
	}
	if err != nil {
		m.notice(l.id, LevelWarn, "%s was not told of a merge: %v", l.thread().Name, err)
	}
	if err := m.keepUntold(ctx, l, texts[1:]); err != nil {
		l.waits(false) // not once more before the next start
		m.cfg.Log.Warn("forget what a thread was told", "thread", string(l.id), "err", err)
	}
}

// send hands a prompt to an agent. The end of the server cuts it short: errClosed.
func (m *Manager) send(s Session, text string) error {
	ctx, cancel := context.WithTimeout(m.ctx, sendTimeout)
	defer cancel()
	ctx, over := context.WithCancelCause(ctx)
	defer over(nil)
	go func() {
		select {
		case <-m.closing:
			over(errClosed)
		case <-ctx.Done():
		}
	}()
	err := s.Send(ctx, text)
	if err != nil && errors.Is(context.Cause(ctx), errClosed) {
		return errClosed
	}
	return err
}
