package manager

import (
	"slices"

	"orchestrator/thread"
)

// recallLines shows what the agents of threads last said, which only stored checkpoints know after a restart: of the
// threads that a list shows, the newest first. What an agent says meanwhile stays.
func (m *recovery) recallLines() {
	if !m.work.begin() {
		return
	}
	go func() {
		defer m.work.done()
		ctx := m.work.closing
		lines := m.registry.all()
		slices.SortFunc(lines, func(a, b *run) int { return b.live.thread().Created.Compare(a.live.thread().Created) })
		for _, l := range lines {
			t := l.live.thread()
			if t.Head == "" || !t.Archived.IsZero() || !t.Deleted.IsZero() {
				continue
			}
			c, err := m.cfg.Store.Checkpoint(ctx, t.Head)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				m.cfg.Log.Warn("read what a thread last said", "thread", t.Name, "err", err)
			case c.Thread == t.ID: // a fork has not said what its parent did
				l.live.recalls(lineOf(c))
			}
		}
	}()
}

// lineOf returns in a line what a checkpoint knows of its turn.
func lineOf(c thread.Checkpoint) string {
	if line := thread.LineOf([]thread.Entry{{Kind: thread.EntryAnswer, Text: c.Answer}}); line != "" {
		return line
	}
	if c.Prompt == "" {
		return ""
	}
	return thread.LineOfPrompt(c.Prompt)
}

// recalls is says for what was stored, unless something newer is known.
func (l *liveThread) recalls(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" && line != "" {
		l.last = line
		l.show()
	}
}
