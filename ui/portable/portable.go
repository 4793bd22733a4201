// Package portable takes threads out of the project into files, and back into it.
package portable

import (
	"context"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Server is what moving threads needs of the server.
type Server interface {
	Export(context.Context, thread.TransferRequest) (thread.Status, error)
	Import(context.Context, thread.TransferRequest) (thread.Status, error)
}

// Feature moves threads.
type Feature struct {
	*host.Host
	srv Server
}

// Register adds the feature for the project in a folder.
func Register(h *host.Host, srv Server, project string) {
	f := &Feature{h, srv}
	h.On(intent.Import, func() tea.Cmd {
		h.Dialogs.Push(newImport(project, f.take))
		return nil
	})
	h.OnThread(intent.Export, func(s *thread.Status) tea.Cmd {
		h.Dialogs.Push(newExport(s, project, f.export))
		return nil
	})
}

func (f *Feature) export(r thread.TransferRequest) tea.Cmd {
	return f.Begin("exporting …", "exported to "+r.File, func(ctx context.Context) error {
		_, err := f.srv.Export(ctx, r)
		return err
	}, nil)
}

func (f *Feature) take(r thread.TransferRequest) tea.Cmd {
	return tea.Batch(f.Tell(thread.LevelInfo, "importing "+filepath.Base(r.File)+" …"),
		f.Start("import", "imported", false,
			func(ctx context.Context) (thread.Status, error) { return f.srv.Import(ctx, r) }))
}
