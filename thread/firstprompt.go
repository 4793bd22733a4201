package thread

import (
	"context"
	"errors"
	"slices"
)

// firstPrompt is what an agent is told first in a run. Prompts are typed: until the agent takes them, the
// person's own words are stored, so that neither a stop nor a crash loses them.
type firstPrompt struct {
	session Session
	text    string // all of it, ending with own
	own     string // the person's words; the rest is made again by the next start
	sending bool   // guarded by Manager.mu
}

// sendFirst is the step that has a prompt typed once the agent takes it.
func (l *line) sendFirst(ctx context.Context, f *firstPrompt) {
	m := l.m
	if f.own != "" {
		texts, err := m.untold(ctx, l.id)
		if err == nil {
			err = m.keepUntold(ctx, l, slices.Insert(texts, 0, f.own))
		}
		if err != nil {
			m.cfg.Log.Warn("keep the first prompt until it is sent", "thread", string(l.id), "err", err)
		}
	}
	l.typeFirst(f)
}

// typeFirst types a first prompt in a goroutine of its own; f.sending is set.
func (l *line) typeFirst(f *firstPrompt) {
	if !l.m.begin() {
		return
	}
	go func() {
		defer l.m.done()
		err := l.m.send(f.session, f.text)
		l.enqueue(func() { l.firstSent(l.m.ctx, f, err) })
	}()
}

// firstSent is the step after an attempt to type a first prompt. One that met a dialog, such as the
// question whether to trust the folder, waits until the person has answered it.
func (l *line) firstSent(ctx context.Context, f *firstPrompt, err error) {
	m := l.m
	if errors.Is(err, errClosed) || errors.Is(err, ErrNotRunning) {
		return // the next start tells it
	}
	var later *NotReadyError
	if errors.As(err, &later) || errors.Is(err, ErrApproval) && !errors.Is(err, ErrTyped) {
		m.mu.Lock()
		f.sending = false
		m.show(l)
		m.mu.Unlock()
		what := "the agent's question is answered"
		if later != nil && !errors.Is(err, ErrApproval) {
			what = "nothing is in the way: " + later.Reason
		}
		m.notice(l.id, LevelInfo, "%s: the first prompt is sent once %s", l.thread().Name, what)
		l.deliver(ctx) // it may be by now
		return
	}
	if err != nil {
		m.notice(l.id, LevelWarn, "the first prompt was not sent: %v", err)
	}
	m.mu.Lock()
	if l.first == f {
		l.first = nil
		m.show(l)
	}
	m.mu.Unlock()
	if err := l.forgetOwn(ctx, f.own); err != nil {
		m.cfg.Log.Warn("forget a first prompt that was sent", "thread", string(l.id), "err", err)
	}
	l.deliver(ctx)
}

// forgetOwn removes the person's words from what is still to be told.
func (l *line) forgetOwn(ctx context.Context, own string) error {
	if own == "" {
		return nil
	}
	texts, err := l.m.untold(ctx, l.id)
	if err != nil || len(texts) == 0 || texts[0] != own {
		return err
	}
	return l.m.keepUntold(ctx, l, texts[1:])
}

// hasToTell reports whether the agent is to be told something; Manager.mu is held.
func (l *line) hasToTell() bool { return l.untold || l.first != nil }

// takeFirst returns the first prompt where it has to go before all else: nil with wait where it is being
// typed. Manager.mu is held.
func (l *line) takeFirst(s Session) (f *firstPrompt, wait bool) {
	f = l.first
	switch {
	case f == nil:
		return nil, false
	case f.session != s: // of a run that ended; its words are stored
		l.first = nil
		return nil, false
	case f.sending:
		return nil, true
	}
	f.sending = true
	return f, false
}
