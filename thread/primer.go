package thread

import (
	"context"
	"fmt"
	"path/filepath"

	"orchestrator/thread/secret"
)

// maxSummary is the most bytes of a handoff's summary that the thread's row keeps; the whole text
// lies beside it in the thread's folder.
const maxSummary = 1500

// handOver writes what an agent is told that cannot be given its native conversation, from our own
// record: never more tokens than the budget, bulky results as files that the agent may read.
func (l *line) handOver(ctx context.Context) (string, error) {
	m, t := l.m, l.thread()
	c, err := m.cfg.Store.Checkpoint(ctx, t.Head)
	if err != nil {
		return "", fmt.Errorf("read the checkpoint to hand over: %w", err)
	}
	items, err := m.cfg.Store.Conversation(ctx, t.Head)
	if err != nil {
		return "", fmt.Errorf("read the conversation to hand over: %w", err)
	}
	in := primerInput{
		entries: withoutSecrets(m.entries(items)), dir: t.Dir, turn: c.Turn, whole: whole(c),
		budget: m.cfg.Limits.Primer, tokens: m.cfg.Tokens,
	}
	from := t
	if p := m.line(c.Thread); p != nil {
		from = p.thread()
	}
	in.thread, in.agent = from.Name, from.Agent
	if t.Handoff != nil {
		in.label = t.Handoff.Description
	}
	if len(in.entries) == 0 {
		return "", fmt.Errorf("hand over %d items that nobody can read: %w", len(items), ErrDamaged)
	}
	in.files = m.changedFiles(ctx, t, c)
	in.save = func(name, text string) (string, error) {
		return m.handedOut(t.ID).Put(filepath.Join("handoff-"+string(c.ID), name), []byte(text))
	}
	text, err := writePrimer(in)
	if err != nil {
		return "", err
	}
	if _, err := in.save("primer.md", text); err != nil {
		return "", err
	}
	err = l.update(ctx, func(t *Thread) error {
		h := m.handoff(*t, from, c, in.label)
		h.ContextSummary = excerptOf(text, maxSummary)
		t.Handoff = &h
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("store the handoff: %w", err)
	}
	m.notice(l.id, LevelInfo, "%s: the agent gets a summary of %s tokens (budget %s) of %s up to turn %d",
		t.Name, Tokens(int64(m.cfg.Tokens(text))), Tokens(int64(in.budget)), in.thread, c.Turn)
	return text, nil
}

// withoutSecrets redacts what is handed over: another agent, often of another provider, reads it, and files keep it.
func withoutSecrets(entries []Entry) []Entry {
	for i := range entries {
		entries[i].Text = secret.Redact(entries[i].Text)
	}
	return entries
}

// handoff is the payload that is stored with a fork.
func (m *Manager) handoff(t, from Thread, at Checkpoint, label string) Handoff {
	mcps := at.MCP
	if mcps == nil {
		mcps = []string{}
	}
	return Handoff{
		TaskID: string(t.ID), ThreadID: t.ID, Description: label, EnabledMCPs: mcps, CheckpointID: at.ID,
		Metadata: HandoffMetadata{ParentThreadID: from.ID, ForkPoint: at.Turn, TokenBudget: m.cfg.Limits.Primer},
	}
}

// changedFiles returns what the thread changed up to a checkpoint, as far as snapshots tell.
func (m *Manager) changedFiles(ctx context.Context, t Thread, at Checkpoint) []FileDiff {
	if m.cfg.Differ == nil {
		return nil
	}
	s, err := m.snapshotAt(ctx, at.ID)
	if err != nil || s == nil || s.Base == "" {
		return nil
	}
	files, err := m.cfg.Differ.Diff(ctx, t.Dir, s.Base, s.Commit)
	if err != nil {
		m.cfg.Log.Warn("compare the files for a handoff", "thread", string(t.ID), "err", err)
		return nil
	}
	return files
}
