package lifecycle

import (
	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// New adds the feature to a host.
func New(h *host.Host) *Feature {
	f := &Feature{Host: h}
	h.Actions.OnThread(intent.Rename, f.openRename)
	h.Actions.OnThread(intent.Abandon, f.openAbandon)
	h.Actions.OnThread(intent.Pin, f.pin)
	h.Actions.OnThread(intent.Archive, func(s *thread.Status) tea.Cmd {
		if !s.Archived.IsZero() {
			return f.unarchive(s)
		}
		return f.openArchive(s)
	})
	h.Actions.OnThread(intent.Delete, f.openDelete)
	h.Actions.OnThread(intent.Stop, f.openStop)
	h.Actions.OnThread(intent.StopNow, func(s *thread.Status) tea.Cmd {
		if !host.Running(s) {
			return nil
		}
		return f.stop(s.ID)
	})
	h.Actions.OnThread(intent.FileAway, func(s *thread.Status) tea.Cmd {
		if !s.Archived.IsZero() {
			return f.unarchive(s)
		}
		return f.Archive(s.ID)
	})
	h.Actions.OnThread(intent.Read, f.read)
	h.Actions.OnMarked(intent.Stop, f.stopAll)
	h.Actions.OnMarked(intent.Archive, f.archiveAll)
	h.Actions.OnMarked(intent.Read, f.readAll)
	return f
}
