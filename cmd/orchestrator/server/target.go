package server

import (
	"cmp"
	"context"

	"orchestrator/contextmgr/tokens"
	"orchestrator/thread"
	"orchestrator/thread/bundle"
)

// target returns what a bundle is counted for: an agent's model, with the window that it has, less what the agent was seen
// to send before a word is said. Where only the agent is named, it is the model that it was seen with.
func (a *Server) target(ctx context.Context, agent, model string) bundle.Target {
	var base int64
	if agent != "" {
		r, err := a.bases.report(ctx, thread.BaseQuery{Agent: agent})
		if err == nil && (model == "" || model == r.Model) {
			base, model = r.Tokens, cmp.Or(model, r.Model)
		} else if err == nil {
			base = r.Tokens // of another model: about as much
		}
	}
	to := bundle.Target{Base: base, Window: a.models.Window(model, false, 0, nil)}
	to.Count, to.Margin, to.Measured = tokens.NewMeter(a.counter, a.calibration, a.models.Encoding).For(model)
	return to
}
