// Package transfer exports threads to files and imports them.
package transfer

import (
	"context"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Server is what the feature needs from the server.
type Server interface {
	Export(context.Context, thread.TransferRequest) (thread.Status, error)
	Import(context.Context, thread.TransferRequest) (thread.Status, error)
}

// Feature exports and imports threads.
type Feature struct {
	*host.Host
	srv Server
}

// Register adds the feature to a host, for the project in a folder.
func Register(h *host.Host, srv Server, project string) {
	f := &Feature{h, srv}
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
	return f.Begin("Exporting …", "export", "Exported to "+r.File, func(ctx context.Context) error {
		_, err := f.srv.Export(ctx, r)
		return err
	}, nil)
}

func (f *Feature) load(r thread.TransferRequest) tea.Cmd {
	return tea.Batch(f.Notify(thread.LevelInfo, "Importing "+filepath.Base(r.File)+" …"),
		f.Start("import", "imported", false,
			func(ctx context.Context) (thread.Status, error) { return f.srv.Import(ctx, r) }))
}
