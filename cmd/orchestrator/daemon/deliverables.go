package daemon

import (
	"context"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/plan"
)

// registerDeliverables adds the operations on what agents of plans hand over.
func (s *Server) registerDeliverables(r *routes) {
	recorded(r, api.GetDeliverable, s.Waves.Get)
	recorded(r, api.Deliverables, s.Waves.Handed)
	recorded(r, api.PutDeliverable, s.Waves.Put)
}

// handedOver reports whether staged data is a part of what an agent of a plan has handed over.
func handedOver(d thread.Staged) bool { return slices.Contains(d.Labels, plan.HandedOver) }

// opens refuses an agent the token of what another agent of a plan has handed over, unless its own plan lets it read that. All
// that reads staged data by a token passes here.
func (s *Server) opens(ctx context.Context, c grant.Caller, d thread.Staged) error {
	if !c.Agent || !handedOver(d) || s.Waves == nil {
		return nil
	}
	return s.Waves.Opens(ctx, authorBy(c), d.Token)
}

// shows reports whether a list shows staged data to a caller, and the beginning of a token finds it: what is handed over is
// found by its whole token only, but by a person.
func shows(c grant.Caller) func(thread.Staged) bool {
	return func(d thread.Staged) bool { return c.Sees(d) && (!c.Agent || !handedOver(d)) }
}
