package record

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

// Bundles are the contexts that agents are given.
type Bundles struct{ c Config }

// BundleArg names a bundle: one that is kept, by its id or hash, or one in a file in its printed form.
type BundleArg struct {
	Ref  string       `json:"ref,omitempty"`
	Form *work.Bundle `json:"form,omitempty"`
	// Items are those of Form with what their files hold now, as far as they were found. Who calls has read them: files are
	// never read for an agent.
	Items []bundle.Item `json:"items,omitempty"`
	// Fresh refuses a bundle whose files, as they are in Items, are missing or have changed since it was prepared.
	Fresh bool `json:"fresh,omitempty"`
}

// BundleContent is a bundle with the content of its items, by their hashes.
type BundleContent struct {
	Kept   work.KeptBundle   `json:"kept"`
	Pieces map[string][]byte `json:"pieces,omitempty"`
}

// PrepareRequest asks for a bundle. With Measure it is counted and not kept.
type PrepareRequest struct {
	Order   bundle.Order `json:"order"`
	Measure bool         `json:"measure,omitempty"`
}

// Prepare makes a bundle and keeps it with the content of its items. The same again is the one that is kept.
func (b *Bundles) Prepare(ctx context.Context, by Author, q PrepareRequest) (bundle.Made, error) {
	o := q.Order
	o.By = by.Thread
	if o.Session != "" {
		if _, err := b.c.joined(ctx, by, o.Session); err != nil {
			return bundle.Made{}, err
		}
	}
	made, err := bundle.Make(o, b.c.target(ctx, o.Agent, o.Model), b.c.Now())
	if err != nil || q.Measure {
		return made, err
	}
	made.Kept, err = b.keep(ctx, by, made.Kept, made.Pieces)
	return made, err
}

// keep stores a bundle, if its author may have so much.
func (b *Bundles) keep(ctx context.Context, by Author, k work.KeptBundle, pieces map[string][]byte) (work.KeptBundle, error) {
	size := len(bundle.Print(k.Bundle))
	for _, p := range pieces {
		size += len(p)
	}
	if err := b.c.mayRecord(ctx, by, size); err != nil {
		return k, err
	}
	kept, err := b.c.Store.PutBundle(ctx, k, pieces)
	if errors.Is(err, thread.ErrNameTaken) {
		err = thread.Hint(fmt.Errorf("bundle %s: %w, with another content", k.Bundle.ID, err), "Give it another bundle_id, or none")
	}
	return kept, err
}

// Show returns a bundle with the content of its items, as far as that is known. One in a file that is not kept is kept.
func (b *Bundles) Show(ctx context.Context, by Author, arg BundleArg) (BundleContent, error) {
	k, err := b.find(ctx, by, arg, true)
	if err != nil {
		return BundleContent{}, err
	}
	out := BundleContent{Kept: k, Pieces: map[string][]byte{}}
	for _, sum := range k.Pieces {
		if sum == "" || out.Pieces[sum] != nil {
			continue
		}
		if out.Pieces[sum], err = b.c.Store.Piece(ctx, sum); err != nil {
			return out, fmt.Errorf("content of %s: %w", k.Bundle.ID, err)
		}
	}
	return out, nil
}

// Find returns the bundle that an argument names. One in a file that is not kept is measured, as far as its files were
// found, and kept.
func (b *Bundles) Find(ctx context.Context, by Author, arg BundleArg) (work.KeptBundle, error) {
	return b.find(ctx, by, arg, true)
}

func (b *Bundles) find(ctx context.Context, by Author, arg BundleArg, keep bool) (work.KeptBundle, error) {
	k, found, err := b.known(ctx, by, arg)
	switch {
	case err != nil:
		return k, err
	case found && arg.Fresh && len(arg.Items) > 0:
		return k, bundle.Changed(k, arg.Items)
	case found:
		return k, nil
	}
	o := bundle.Order{
		ID: arg.Form.ID, AgentType: arg.Form.AgentType, Scope: arg.Form.Scope, Items: arg.Items, Claims: !arg.Fresh, By: by.Thread,
		Budget: max(0, arg.Form.Total+arg.Form.Remaining),
	}
	if len(o.Items) == 0 {
		for _, it := range arg.Form.Items {
			o.Items = append(o.Items, bundle.Item{Type: it.Type, Source: it.Source, Priority: it.Priority, Sections: it.Sections,
				SharedWith: it.SharedWith, Claimed: it.Tokens, Missing: "it was not read"})
		}
	}
	at := arg.Form.Created
	if at.IsZero() {
		at = b.c.Now()
	}
	made, err := bundle.Make(o, b.c.target(ctx, "", ""), at)
	if err != nil || !keep {
		return made.Kept, err
	}
	return b.keep(ctx, by, made.Kept, made.Pieces)
}

// has reports whether who names a bundle has all of what is in it: it is printed in a file, and they have read its files as
// they were. Then it is no secret from them, whoever has prepared it.
func (a BundleArg) has(k work.KeptBundle) bool {
	if a.Form == nil || len(a.Items) == 0 || len(a.Items) != len(k.Bundle.Items) || len(k.Sources) != len(a.Items) ||
		string(bundle.Print(k.Bundle)) != string(bundle.Print(*a.Form)) {
		return false
	}
	for i, it := range a.Items {
		if it.Missing != "" || it.Source != k.Bundle.Items[i].Source || k.Sources[i] == "" || bundle.Sum(string(it.Content)) != k.Sources[i] {
			return false
		}
	}
	return true
}

// known looks for a bundle among those that are kept. One in a file is known if it is as it was printed.
func (b *Bundles) known(ctx context.Context, by Author, arg BundleArg) (k work.KeptBundle, found bool, err error) {
	ref := arg.Ref
	if arg.Form != nil {
		ref = arg.Form.ID
	}
	if ref == "" && arg.Form == nil {
		return k, false, thread.Kindf(thread.ErrInvalid, "no bundle is named: give its id, or a file")
	}
	if ref != "" {
		k, err = b.c.Store.Bundle(ctx, ref)
	}
	seen := by.all() || by.Thread != "" && k.By == by.Thread || err == nil && arg.has(k)
	unknown := ref == "" || errors.Is(err, thread.ErrNotFound) || err == nil && !seen
	switch {
	case err != nil && !unknown:
		return k, false, err
	case unknown && arg.Form == nil:
		return work.KeptBundle{}, false, thread.Hint(thread.Kindf(thread.ErrNotFound, "no bundle %q", thread.Excerpt(ref)),
			"`orchestrator bundle list` lists them; a file needs its path")
	case unknown:
		return work.KeptBundle{}, false, nil
	}
	return k, arg.Form == nil || string(bundle.Print(k.Bundle)) == string(bundle.Print(*arg.Form)), nil
}

// Fits refuses a prompt that an agent's model has no room for, as far as its window is known: one that was made of a bundle
// for another, or a long one.
func (b *Bundles) Fits(ctx context.Context, agent, model, prompt string) error {
	return bundle.Fits(prompt, b.c.target(ctx, agent, model))
}

// BundlesRequest asks for bundles.
type BundlesRequest struct {
	Session   string `json:"session_id,omitempty"`
	AgentType string `json:"agent_type,omitempty"`
	Limit     int    `json:"limit,omitempty"`
}

// List lists bundles, newest first.
func (b *Bundles) List(ctx context.Context, by Author, q BundlesRequest) ([]work.KeptBundle, error) {
	query := work.BundleQuery{Session: q.Session, AgentType: q.AgentType, Limit: q.Limit}
	if !by.all() {
		if query.By = by.Thread; by.Thread == "" {
			return []work.KeptBundle{}, nil
		}
	}
	list, err := b.c.Store.Bundles(ctx, query)
	if list == nil {
		list = []work.KeptBundle{}
	}
	return list, err
}

// DedupRequest names bundles that are used one after the other.
type DedupRequest struct {
	Bundles []BundleArg `json:"bundles"`
}

// Dedup tells apart what several bundles have alike, and keeps them as they are without it.
func (b *Bundles) Dedup(ctx context.Context, by Author, q DedupRequest) (bundle.Shared, error) {
	all := make([]work.KeptBundle, 0, len(q.Bundles))
	for _, arg := range q.Bundles {
		k, err := b.find(ctx, by, arg, true)
		if err != nil {
			return bundle.Shared{}, err
		}
		all = append(all, k)
	}
	out, err := bundle.Dedup(all)
	if err != nil {
		return out, err
	}
	for i, k := range out.Kept {
		k.Bundle.Created, k.By = b.c.Now().UTC().Truncate(1e9), by.Thread
		k.Hash = bundle.Hash(k)
		if out.Kept[i], err = b.keep(ctx, by, k, nil); err != nil { // their content is there already
			return out, err
		}
		out.Deduplicated[i] = out.Kept[i].Bundle
	}
	return out, nil
}

// BudgetRequest asks what of a budget of context is used: by the executions of a work session and what is prepared for it,
// or by some bundles.
type BudgetRequest struct {
	Session string      `json:"session_id,omitempty"`
	Phase   int         `json:"phase,omitempty"`
	Budget  int64       `json:"budget,omitempty"`         // 0 for bundle.UsualBudget
	Warn    float64     `json:"warn_threshold,omitempty"` // 0 for bundle.WarnAt
	Bundles []BundleArg `json:"bundles,omitempty"`
}

// mostSummed is how many rows of a work session are counted.
const mostSummed = 1000

// Budget tells what of a budget is used.
func (b *Bundles) Budget(ctx context.Context, by Author, q BudgetRequest) (bundle.Budget, error) {
	sum := bundle.Budget{Session: q.Session, Phase: q.Phase, Budget: q.Budget, Warn: q.Warn}
	if q.Session == "" && len(q.Bundles) == 0 {
		return sum, thread.Kindf(thread.ErrInvalid, "the budget of what? Name a work session, or bundles")
	}
	if q.Session != "" {
		s, err := b.c.session(ctx, by, q.Session)
		if err != nil {
			return sum, err
		}
		if sum.Warn == 0 {
			sum.Warn = s.WarnAt
		}
	}
	given, err := b.given(ctx, by, q.Session)
	if err != nil {
		return sum, err
	}
	var used []string
	for _, x := range given {
		used = append(used, x.Bundle)
		sum.Parts = append(sum.Parts, bundle.BudgetPart{
			Execution: x.Name, Bundle: x.Bundle, AgentType: x.AgentType(), Tokens: x.Context, Claimed: x.Kind.Origin() == work.OriginHand,
		})
	}
	planned, err := b.planned(ctx, by, q)
	if err != nil {
		return sum, err
	}
	for _, k := range planned {
		if k.Bundle.ID == "" || !slices.Contains(used, k.Bundle.ID) {
			sum.Parts = append(sum.Parts, part(k))
		}
	}
	return sum.Sum()
}

// given returns the executions of a work session.
func (b *Bundles) given(ctx context.Context, by Author, session string) ([]work.Execution, error) {
	if session == "" {
		return nil, nil
	}
	q := work.RecordQuery{Session: session, Limit: mostSummed}
	q.Seen = by.seen()
	return b.c.Store.Recorded(ctx, q)
}

// planned returns the bundles of a request, or those that are kept for its work session.
func (b *Bundles) planned(ctx context.Context, by Author, q BudgetRequest) ([]work.KeptBundle, error) {
	if len(q.Bundles) == 0 {
		return b.List(ctx, by, BundlesRequest{Session: q.Session, Limit: mostSummed})
	}
	var all []work.KeptBundle
	for _, arg := range q.Bundles {
		k, err := b.find(ctx, by, arg, false)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

func part(k work.KeptBundle) bundle.BudgetPart {
	return bundle.BudgetPart{
		Bundle: k.Bundle.ID, AgentType: k.Bundle.AgentType, Tokens: k.Bundle.Total, Over: k.Bundle.Remaining < 0,
		Claimed: slices.Contains(k.Pieces, "") || len(k.Pieces) == 0,
	}
}

// AllocateRequest says that an execution was given a bundle, or will be.
type AllocateRequest struct {
	Execution string    `json:"execution_id"`
	Bundle    BundleArg `json:"bundle"`
	Planned   bool      `json:"planned,omitempty"` // it was not sent
}

// Allocate records what an execution was given: what somebody says of one by hand.
func (b *Bundles) Allocate(ctx context.Context, by Author, q AllocateRequest) ([]work.Allocation, error) {
	x, err := b.c.Store.Execution(ctx, q.Execution)
	if errors.Is(err, thread.ErrNotFound) {
		return nil, work.Unknown(q.Execution, nil)
	}
	if err == nil && by.Agent && x.Kind != work.KindHand {
		err = thread.Kindf(thread.ErrNotGranted, "what it was given is recorded by itself")
	}
	if err == nil {
		err = by.changes(x.By, x.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("execution %s: %w", thread.Excerpt(q.Execution), err)
	}
	k, err := b.find(ctx, by, q.Bundle, true)
	if err != nil {
		return nil, err
	}
	pieces := bundle.Allocations(x, k, func(work.BundleItem, string) bool { return !q.Planned })
	for i := range pieces {
		pieces[i].Claimed = true
	}
	if err := b.c.mayRecord(ctx, by, len(bundle.Print(k.Bundle))); err != nil {
		return nil, err
	}
	if err := b.c.Store.Allocate(ctx, x.ID, pieces); err != nil {
		return nil, err
	}
	if x.Kind == work.KindHand && x.Bundle == "" {
		_, err = b.c.Store.Supersede(ctx, x.ID, func(x *work.Execution) error {
			x.Bundle = k.Bundle.ID
			if x.Context == 0 {
				x.Context = k.Bundle.Total
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("note the bundle of %s: %w", x.Name, err)
		}
	}
	return b.c.Store.Allocations(ctx, x.ID)
}
