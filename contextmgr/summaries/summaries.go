// Package summaries replaces older turns of conversations by summaries: it plans one, has it written, stores it
// and finds where it stands in a request.
//
// It guarantees:
//
//   - A summary stands in place of older turns only while both ends of what it replaces are in the request as they were.
//     It is durable, with all that it replaces, before the first request that has it; a person can drop or edit it.
//
//   - A summary is written beside the requests, at most one of a thread at a time, and never with the credentials of a
//     subscription login unless people have allowed that.
//
// How a summary reads and what makes a written one unfit says package summary. Of each thread, the last request that
// ended a turn is kept in memory for an hour, compressed.
package summaries

import (
	"context"
	"sync"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Settings say how older turns are summarised.
type Settings struct {
	// By writes a summary at the end of a turn when the context asks for one; "" is for nobody. Then people are told
	// what one would mean, if Offer is set.
	By    thread.SummaryAuthor
	Offer bool
	// Model and Program write summaries; nil if there is none of the kind.
	Model, Program Author
	// Login allows the model to be asked with the credentials of a subscription login.
	Login bool
	// MostUSD is the most that a summary by the model may cost, 0 for no limit.
	MostUSD float64
	// Also is what summaries keep besides what belongs in each.
	Also string
}

// Author writes summaries.
type Author interface {
	Write(ctx context.Context, d summary.Draft) (summary.Written, error)
}

// author returns who writes summaries by themselves: where the model may not be asked, nobody does but an extract is
// made.
func (s Settings) author(login bool) thread.SummaryAuthor {
	switch {
	case s.By == thread.ByModel && (s.Model == nil || login && !s.Login), s.By == thread.ByProgram && s.Program == nil:
		return thread.ByNobody
	default:
		return s.By
	}
}

// Conversation is a conversation of which summaries are made. Its lock is held when the rest is called.
type Conversation interface {
	sync.Locker
	// State returns what holds for it now.
	State() State
	// Sent measures one of its requests as it would be sent now.
	Sent(o gateway.Outgoing, scanner wire.Scanner, scan *wire.Scan) Sent
}

// State is what holds for a conversation.
type State struct {
	Masks *masks.Set
	// Mode is in force, for the reason Why.
	Mode thread.MaskMode
	Why  string
	// Login is set if a subscription pays for the requests.
	Login bool
	// Answered is the number of the last request that was answered.
	Answered int
}

// Sent is a request as it is sent, with the masks and the summary that are in force.
type Sent struct {
	gateway.Outgoing
	Scanner wire.Scanner
	Scan    *wire.Scan
	At      time.Time
	// Number is that of the request, from 0.
	Number   int
	Settings policy.Settings
	// Place is where a summary stands, and Sizes has the tokens of each content.
	Place Place
	Sizes []int64
	// Estimate is the size of the whole in tokens, Context what the provider is expected to count for it.
	Estimate, Context int64
	Window            int64
	// Cold is set if the provider keeps the cache no longer.
	Cold bool
	// Prices are those of the cache, and InputUSD is what a token of input costs that goes past it, 0 if that is
	// unknown.
	Prices   policy.Prices
	InputUSD float64
	Cost     func(models.Tokens) (usd float64, known bool)
	// Tokens estimates the tokens of a part of the body, Before what the provider caches before a place in it.
	Tokens func(raw []byte) int64
	Before func(start int) int64
	// Body returns what is sent, nil for the agent's own bytes.
	Body func() []byte
}
