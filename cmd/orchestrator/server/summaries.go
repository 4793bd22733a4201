package server

import (
	"context"
	"strings"

	"orchestrator/contextmgr/author"
	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/summaries"
	"orchestrator/thread"
)

// summaries returns how older turns are summarised. Unless that is configured, summaries are offered as forks are.
func (a *Server) summaries() summaries.Settings {
	s := summaries.Settings{
		Model: author.Model{Asker: asker{a}}, Login: a.Config.SummaryLogin, MostUSD: a.Config.SummaryUSD,
		Also: a.Config.SummaryAlso,
	}
	if command := a.Config.SummaryProgram; command != "" {
		s.Program = author.Program{
			Name: strings.Fields(command)[0], Command: []string{"/bin/sh", "-c", command}, Environ: a.Env,
		}
	}
	switch mode := a.Config.Summaries; mode {
	case "off":
	case "offer":
		s.Offer = true
	case "":
		switch a.manager.Offers.Mode() {
		case thread.OffersAuto:
			s.By = thread.ByModel
		case thread.OffersSuggest:
			s.Offer = true
		case thread.OffersOff:
		}
	default:
		s.By = thread.SummaryAuthor(mode)
	}
	return s
}

// asker sends requests through the gateway, which is opened later.
type asker struct{ app *Server }

// Ask implements author.Asker.
func (a asker) Ask(ctx context.Context, id thread.ID, q gateway.Question) (thread.Exchange, error) {
	return a.app.gateway.Ask(ctx, id, q)
}
