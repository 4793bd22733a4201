package record

import (
	"context"
	"errors"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// ProducedRequest asks which bundles produced what results.
type ProducedRequest struct {
	Type    string    `json:"agent_type,omitempty"` // of the executions that were given them
	Session string    `json:"session_id,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Limit   int       `json:"limit,omitempty"`
}

// Produced is what a bundle produced. A bundle that is gone has an id only.
type Produced struct {
	Bundle    BundleHead `json:"bundle"`
	Uses      int        `json:"uses"`
	Open      int        `json:"open"`
	Completed int        `json:"completed"`
	Failed    int        `json:"failed"`
	Spent     work.Spent `json:"spent"`
	Seconds   float64    `json:"seconds"`
	// Outputs counts the deliverables of its newest executions, Counted of them; Passed and Refused how many of these had all
	// checks of ours pass, or one fail; Unchecked those that have only been said to be right.
	Counted   int `json:"counted_executions"`
	Outputs   int `json:"outputs"`
	Passed    int `json:"checks_passed"`
	Refused   int `json:"checks_failed"`
	Unchecked int `json:"checks_claimed"`
	// Last is the newest execution that was given it.
	Last work.Row `json:"last"`
}

// countedOf is how many executions of a bundle are looked at for what came of them.
const countedOf = 10

// Produced returns what bundles produced, those with the most successes first.
func (a *Answers) Produced(ctx context.Context, by Author, q ProducedRequest) ([]Produced, error) {
	stats, err := a.c.Store.Stats(ctx, work.StatsQuery{
		By: work.StatByBundle, Type: q.Type, Session: q.Session, Since: q.Since, Seen: by.seen(), Best: limit(q.Limit),
	})
	if err != nil {
		return nil, err
	}
	out := make([]Produced, len(stats))
	newest := make([][]work.Execution, len(stats))
	for i, s := range stats {
		out[i] = Produced{
			Bundle: BundleHead{ID: s.Key}, Uses: s.Runs, Open: s.Open, Completed: s.Completed, Failed: s.Failed,
			Spent: work.SpentOf(s.Usage), Seconds: s.Took.Seconds(),
		}
		b, err := a.c.Store.Bundle(ctx, s.Key)
		switch {
		case err == nil:
			out[i].Bundle = headOf(b)
		case !errors.Is(err, thread.ErrNotFound):
			return nil, err
		}
		if newest[i], err = a.c.Store.Recorded(ctx, work.RecordQuery{
			Bundle: s.Key, Type: q.Type, Session: q.Session, Since: q.Since, Seen: by.seen(), Limit: countedOf,
		}); err != nil {
			return nil, err
		}
	}
	made, err := a.made(ctx, slices.Concat(newest...), "")
	if err != nil {
		return nil, err
	}
	for i, list := range newest {
		out[i].count(list, made)
	}
	return out, nil
}

// count looks at what came of the newest executions of a bundle.
func (p *Produced) count(list []work.Execution, made map[string][]Made) {
	if len(list) == 0 {
		return
	}
	p.Last, p.Counted = work.RowOf(list[0]), len(list)
	for _, x := range list {
		for _, m := range made[x.Name] {
			if m.Type == work.OutputDeliverable {
				p.Outputs++
			}
			switch {
			case m.Checked.Failed():
				p.Refused++
			case m.Checked.Passed():
				p.Passed++
			case m.Claimed != nil:
				p.Unchecked++
			}
		}
	}
}
