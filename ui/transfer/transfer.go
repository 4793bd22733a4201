// Package transfer exports threads to files and imports them.
package transfer

import (
	"context"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Feature exports and imports threads.
type Feature struct {
	*host.Host
}

// Register adds the feature to a host, for the project in a folder.
func Register(h *host.Host, project string) {
	f := &Feature{h}
	h.Actions.On(intent.Import, func() tea.Cmd {
		h.Dialogs.Push(newImport(project, f.load))
		return nil
	})
	h.Actions.OnThread(intent.Export, func(s *thread.Status) tea.Cmd {
		h.Dialogs.Push(newExport(s, project, f.export))
		return nil
	})
}

func (f *Feature) export(r thread.TransferRequest) tea.Cmd {
	return f.Begin("Exporting …", "export", "Exported to "+r.File, api.Export.Command().On(f.Server, r), nil)
}

func (f *Feature) load(r thread.TransferRequest) tea.Cmd {
	return tea.Batch(f.Notify(thread.LevelInfo, "Importing "+filepath.Base(r.File)+" …"),
		f.Start("import", "imported", false,
			func(ctx context.Context) (thread.Status, error) {
				done, err := api.Import.Do(ctx, f.Server, r)
				return done.Status, err
			}))
}
