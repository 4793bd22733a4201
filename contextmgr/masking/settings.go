package masking

import (
	"context"

	"orchestrator/contextmgr/summary"
	"orchestrator/thread"
)

// Summaries says how older turns are summarised.
type Summaries struct {
	// By writes a summary at the end of a turn when the context asks for one; "" is for nobody. Then people are told what
	// one would mean, if Offer is set.
	By    thread.SummaryAuthor
	Offer bool
	// Model and Program write summaries; nil if there is none of the kind.
	Model, Program Author
	// Login allows the model to be asked with the credentials of a subscription login.
	Login bool
	// MostUSD is the most that a summary by the model may cost, 0 for no limit.
	MostUSD float64
	// Also says what summaries keep besides what belongs in each.
	Also string
	// How tells people how to have a summary of a thread written.
	How func(id thread.ID) string
}

// Author writes summaries.
type Author interface {
	Write(ctx context.Context, d summary.Draft) (summary.Written, error)
}
