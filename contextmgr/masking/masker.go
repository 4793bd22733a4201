// Package masking replaces old tool results in the requests of agents by short texts, as package policy decides.
//
// It guarantees:
//
//   - Outside of what is masked, a request is sent with the agent's own bytes.
//
//   - What is masked is sent as the same bytes in every later request of the thread and of its forks, also after a
//     restart: between two decisions, a request begins with the bytes of the one before.
//
//   - A decision is durable, with the contents that it masks, before the first request that it changes is sent.
//
//   - The agent's own records and what people see of a conversation keep the contents.
//
//   - Whatever cannot be read, decided or stored, the request is sent as it came, with what had been masked before where
//     that is possible, and people are told once.
//
// A file of instructions that an agent sends again, because its path is another one, is replaced by a reference to the copy
// that stands before it, if the person wants that: by the same rules, and with the request that has it first or never.
// Older turns are replaced by summaries as package summaries says. It keeps no credentials. Contents are stored by package
// masks only.
package masking

import (
	"context"
	"fmt"
	"log/slog"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summaries"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Masker masks the requests of all threads.
type Masker struct {
	cfg *Config

	writer        *summaries.Writer
	conversations conversations
}

var _ gateway.Keeper = (*Masker)(nil)

// New returns a masker. Close ends it.
func New(cfg Config) (*Masker, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Summaries == nil {
		cfg.Summaries = func() summaries.Settings { return summaries.Settings{} }
	}
	w, err := summaries.NewWriter(cfg.Summaries, cfg.Counts.Estimate, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("open the masks: %w", err)
	}
	return &Masker{&cfg, w, conversations{cfg: &cfg, of: map[thread.ID]*conversation{}}}, nil
}

// Settle waits until no summary is being written.
func (m *Masker) Settle() { m.writer.Settle() }

// Close ends the writing of summaries and lets no other begin.
func (m *Masker) Close() error { return m.writer.Close() }

// Summarise has a summary of a thread's older turns written and stored, for the requests that follow. An author of ""
// is the one of the settings, or else the model.
func (m *Masker) Summarise(ctx context.Context, id thread.ID, by thread.SummaryAuthor) error {
	c, err := m.conversation(id, false)
	if err != nil {
		return err
	}
	return m.writer.Write(ctx, c.summaries, by)
}

// conversation returns what is known about a thread's conversation; asks is set for a request of its agent.
func (m *Masker) conversation(id thread.ID, asks bool) (*conversation, error) {
	c := m.conversations.get(id, asks)
	defer m.conversations.trim()
	c.Lock()
	defer c.Unlock()
	if c.masks != nil {
		return c, nil
	}
	parent, last := m.cfg.Threads.Lineage(id)
	set, err := m.cfg.Masks.Thread(id, parent)
	if err != nil {
		return nil, err
	}
	c.masks, c.cache.asked = set, last
	if set.Shorter() {
		c.pause = untilNextTurn
	}
	if m.cfg.Pictures != nil {
		was, err := readStored(m.cfg.Pictures, id)
		if err != nil { // the next request tells
			m.cfg.Log.Warn("show what filled a context", "thread", string(id), "err", err)
		}
		if was != nil {
			c.before, c.latest.picture = was, was.picture
		}
	}
	return c, nil
}

// Rest implements gateway.Keeper.
func (m *Masker) Rest(id thread.ID) { m.conversations.rest(id) }

// Forget implements gateway.Keeper.
func (m *Masker) Forget(id thread.ID) {
	m.conversations.forget(id)
	m.writer.Forget(id)
	if m.cfg.Pictures != nil {
		if err := m.cfg.Pictures.Drop(id); err != nil {
			m.cfg.Log.Warn("remove what filled a context", "thread", string(id), "err", err)
		}
	}
}

// Rewrite implements gateway.Rewriter.
func (m *Masker) Rewrite(_ context.Context, o gateway.Outgoing) gateway.Rewritten {
	scanner, ok := o.Codec.(wire.Scanner)
	if !ok {
		return gateway.Rewritten{}
	}
	c, err := m.conversation(o.Thread, true)
	if err != nil {
		m.cfg.Log.Error("open the masks of a thread", "thread", string(o.Thread), "err", err)
		o.Notice(thread.LevelWarn, "its requests are sent unmasked: "+err.Error())
		return gateway.Rewritten{}
	}
	c.Lock()
	defer c.Unlock()
	c.login = scanner.Login(o.Call.Header)
	if c.settings = c.inForce(); c.settings.Mode == policy.ModeOff {
		return gateway.Rewritten{}
	}
	scan, err := scanner.Scan(o.Call, c.scan)
	if err != nil {
		c.warn(o, "unreadable", "a request of this thread cannot be read and was sent as it came; nothing in it is masked")
		return gateway.Rewritten{}
	}
	return newRequest(m.writer, c, o, scanner, scan).rewrite()
}
