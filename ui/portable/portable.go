// Package portable takes threads out of the project into files, and back into it.
package portable

import (
	"context"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Server is what moving threads needs of the server.
type Server interface {
	Export(context.Context, thread.PortRequest) (thread.Status, error)
	Import(context.Context, thread.PortRequest) (thread.Status, error)
}

// Register adds the feature for the project in a folder.
func Register(h *host.Host, srv Server, project string) {
	h.On(intent.Import, func() tea.Cmd {
		h.Dialogs.Push(dialog.NewImport(project))
		return nil
	})
	h.OnThread(intent.Export, func(s *thread.Status) tea.Cmd {
		h.Dialogs.Push(dialog.NewExport(s, project))
		return nil
	})
	host.OnResult(h, func(r dialog.Exported) tea.Cmd {
		return h.Begin("exporting …", "exported to "+r.Request.File, func(ctx context.Context) error {
			_, err := srv.Export(ctx, r.Request)
			return err
		}, nil)
	})
	host.OnResult(h, func(r dialog.Imported) tea.Cmd {
		return tea.Batch(h.Tell(thread.LevelInfo, "importing "+filepath.Base(r.Request.File)+" …"),
			h.Start("import", "imported", false,
				func(ctx context.Context) (thread.Status, error) { return srv.Import(ctx, r.Request) }))
	})
}
