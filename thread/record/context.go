package record

import (
	"context"
	"errors"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
	"orchestrator/thread/work"
)

// ContextRequest asks what the newest executions of a type of agent were given, and what came of it.
type ContextRequest struct {
	Type    string    `json:"agent_type"`
	Session string    `json:"session_id,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Limit   int       `json:"limit,omitempty"`
	// Full asks for all of what they were asked, instead of its beginning.
	Full bool `json:"full,omitempty"`
}

// Given is what an execution was given, and what came of it.
type Given struct {
	Execution work.Row     `json:"execution"`
	Bundle    *BundleHead  `json:"bundle,omitempty"`
	Context   []GivenPiece `json:"context"`
	// Asked is what it was asked, in full or its beginning; Cut is set if there is more.
	Asked   string `json:"asked"`
	Cut     bool   `json:"asked_cut,omitempty"`
	Outputs []Made `json:"outputs"`
}

// BundleHead is a bundle without its items.
type BundleHead struct {
	ID        string    `json:"bundle_id"`
	Hash      string    `json:"hash"`
	AgentType string    `json:"agent_type"`
	Scope     string    `json:"scope"`
	Created   time.Time `json:"created_at"`
	Items     int       `json:"items"`
	Tokens    int64     `json:"total_tokens"`
	Remaining int64     `json:"budget_remaining"`
	Budget    int64     `json:"budget,omitempty"`
	Model     string    `json:"model,omitempty"`
}

// headOf returns a bundle without its items.
func headOf(b work.KeptBundle) BundleHead {
	return BundleHead{
		ID: b.Bundle.ID, Hash: b.Hash, AgentType: b.Bundle.AgentType, Scope: b.Bundle.Scope, Created: b.Bundle.Created,
		Items: len(b.Bundle.Items), Tokens: b.Bundle.Total, Remaining: b.Bundle.Remaining, Budget: b.Budget, Model: b.Model,
	}
}

// GivenPiece is a piece of context of an execution.
type GivenPiece struct {
	Piece work.Allocation `json:"piece"`
	// Source is the hash of the whole file that it was taken from, SHA-256 in hex; "" if that is not known.
	Source string `json:"source_hash,omitempty"`
	// Now is how that file compares with it, "" if nobody has looked: see Compare.
	Now FileNow `json:"now,omitempty"`
}

// FileNow is how a file compares with what an execution was given of it.
type FileNow string

// What a file can be now.
const (
	Same    FileNow = "same"
	Differs FileNow = "changed"
	Gone    FileNow = "gone"
)

// beginning is how many bytes of what was asked an answer has, unless all of it is wanted.
const beginning = 1200

// Context returns what the newest executions of a type of agent were given, newest first.
func (a *Answers) Context(ctx context.Context, by Author, q ContextRequest) ([]Given, error) {
	if q.Limit <= 0 {
		q.Limit = 1
	}
	list, err := a.c.Store.Recorded(ctx, work.RecordQuery{
		Type: q.Type, Session: q.Session, Since: q.Since, Seen: by.seen(), Limit: limit(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, a.noType(ctx, by, q)
	}
	out := make([]Given, len(list))
	for i, x := range list {
		if out[i], err = a.given(ctx, x, q.Full); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// given returns what an execution was given.
func (a *Answers) given(ctx context.Context, x work.Execution, full bool) (Given, error) {
	g := Given{Execution: work.RowOf(x), Context: []GivenPiece{}}
	kept, err := a.bundle(ctx, x)
	if err != nil {
		return g, err
	}
	if kept != nil {
		head := headOf(*kept)
		g.Bundle = &head
	}
	pieces, err := a.c.Store.Allocations(ctx, x.ID)
	if err != nil {
		return g, err
	}
	sources := sourcesOf(kept)
	for _, p := range pieces {
		of := GivenPiece{Piece: p, Source: sources[p.Hash]}
		if of.Source == "" && len(p.Sections) == 0 {
			of.Source = p.Hash
		}
		g.Context = append(g.Context, of)
	}
	if g.Asked, g.Cut, err = a.text(ctx, x, x.Given, full); err != nil {
		return g, err
	}
	made, err := a.made(ctx, []work.Execution{x}, "")
	g.Outputs = made[x.Name]
	return g, err
}

// sourcesOf returns the hashes of the whole files by those of the pieces of a bundle.
func sourcesOf(b *work.KeptBundle) map[string]string {
	out := map[string]string{}
	if b == nil {
		return out
	}
	for i, piece := range b.Pieces {
		if piece != "" && i < len(b.Sources) {
			out[piece] = b.Sources[i]
		}
	}
	return out
}

// bundle returns the bundle that an execution was given, nil if there is none or it is gone.
func (a *Answers) bundle(ctx context.Context, x work.Execution) (*work.KeptBundle, error) {
	if x.Bundle == "" {
		return nil, nil //nolint:nilnil // most have none
	}
	b, err := a.c.Store.Bundle(ctx, x.Bundle)
	if errors.Is(err, thread.ErrNotFound) {
		return nil, nil //nolint:nilnil // it is gone
	}
	return &b, err
}

// text returns the text of an event, or its beginning and whether that is not all; "" if there is none.
func (a *Answers) text(ctx context.Context, x work.Execution, seq int64, full bool) (string, bool, error) {
	if seq <= 0 {
		return "", false, nil
	}
	list, err := a.c.Store.Events(ctx, x.ID, seq-1, 1)
	if err != nil || len(list) == 0 || list[0].Seq != seq {
		return "", false, err
	}
	text := list[0].Text
	if full || len(text) <= beginning {
		return text, false, nil
	}
	return strings.ToValidUTF8(text[:beginning], ""), true, nil
}

// noType is the error for a type of agent of which nothing ran, with those that did.
func (a *Answers) noType(ctx context.Context, by Author, q ContextRequest) error {
	list, err := a.c.Store.Stats(ctx, work.StatsQuery{By: work.StatByType, Session: q.Session, Since: q.Since, Seen: by.seen()})
	if err != nil {
		return err
	}
	var names []string
	for _, s := range list {
		names = append(names, s.Key)
	}
	meant := near.Names(q.Type, names)
	hint := "nothing ran yet"
	if len(names) > 0 {
		hint = "types: " + strings.Join(names[:min(len(names), 12)], ", ")
	}
	return thread.Hint(thread.Kindf(thread.ErrNotFound, "no execution of the type %q", thread.Excerpt(q.Type)), thread.Meant(meant, hint))
}
