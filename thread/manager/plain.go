package manager

import (
	"orchestrator/thread"
)

// entries reads a conversation: our own items here, all others by the configured reader.
func (m *Manager) entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	for len(items) > 0 {
		n := 1
		plain := items[0].Wire == thread.WirePlain
		for n < len(items) && (items[n].Wire == thread.WirePlain) == plain {
			n++
		}
		switch {
		case plain:
			out = append(out, thread.PlainEntries(items[:n])...)
		case m.cfg.Reader != nil:
			out = append(out, m.cfg.Reader.Entries(items[:n])...)
		}
		items = items[n:]
	}
	return out
}
