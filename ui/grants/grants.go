// Package grants changes what the agent of a thread may do with other threads.
package grants

import (
	"context"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Server is what grants need of the server.
type Server interface {
	Grant(ctx context.Context, ref string, add, remove []thread.Grant) error
}

// Register adds the feature.
func Register(h *host.Host, srv Server) {
	h.OnThread(intent.Grants, func(s *thread.Status) tea.Cmd {
		h.Dialogs.Push(dialog.NewGrants(s))
		return nil
	})
	host.OnResult(h, func(r dialog.Granted) tea.Cmd { return change(h, srv, r) })
}

func change(h *host.Host, srv Server, r dialog.Granted) tea.Cmd {
	if len(r.Add)+len(r.Remove) == 0 {
		return nil
	}
	var parts []string
	if len(r.Add) > 0 {
		parts = append(parts, "added "+grant.Format(r.Add))
	}
	if len(r.Remove) > 0 {
		parts = append(parts, "removed "+grant.Format(r.Remove))
	}
	return h.Change("grants of "+h.Name(r.ID)+": "+strings.Join(parts, ", "),
		func(ctx context.Context) error { return srv.Grant(ctx, string(r.ID), r.Add, r.Remove) }, nil)
}
