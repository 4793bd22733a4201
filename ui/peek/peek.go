// Package peek shows what a thread asks, or answered last, over the list: without entering it, and without its counting
// as read. The cursor of the list moves with it, and goes back when it is closed.
package peek

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Config is what the feature needs of others.
type Config struct {
	// Answer returns the last answer of a thread, and its turn; "" if there is none.
	Answer func(context.Context, thread.ID) (text string, turn int, err error)
	// Enter opens the selected thread.
	Enter func() tea.Cmd
}

// Feature shows the last answer of the selected thread.
type Feature struct {
	*host.Host
	cfg  Config
	open *card // open or closed
	was  thread.ID
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg}
	h.Actions.OnThread(intent.Peek, func(s *thread.Status) tea.Cmd {
		f.was = s.ID
		f.open = &card{Host: h, follow: f.Follow, leave: f.leave, enter: cfg.Enter}
		h.Dialogs.Push(f.open)
		return f.Follow()
	})
	return f
}

// Follow loads the answer of the selected thread, if it is peeked at and another one is shown. Call it after every message.
func (f *Feature) Follow() tea.Cmd {
	if f.open == nil || !f.Dialogs.Has(f.open) {
		return nil
	}
	s, c := f.Threads.Selected(), f.open
	if s == nil {
		f.Dialogs.Close(c)
		return nil
	}
	if c.id == s.ID && c.turn == s.Turn {
		return nil
	}
	if c.id != s.ID {
		c.said, c.of = "", 0
		c.pages.Reset()
	}
	id, turn := s.ID, s.Turn
	c.id, c.turn, c.err, c.busy, c.width = id, turn, nil, true, 0
	return host.Call(f.Host, host.Quick, func(ctx context.Context) (said, error) {
		text, of, err := f.cfg.Answer(ctx, id)
		return said{text, of}, err
	}, func(a said, err error) tea.Cmd {
		if c.id == id && c.turn == turn {
			c.said, c.of, c.err, c.busy, c.width = a.text, a.turn, err, false, 0
		}
		return nil
	})
}

// leave selects again what was selected before.
func (f *Feature) leave() tea.Cmd {
	f.Threads.Select(f.was)
	return nil
}
