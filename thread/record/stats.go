package record

import (
	"cmp"
	"context"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// StatsRequest asks for sums over executions of all kinds.
type StatsRequest struct {
	By      work.StatBy `json:"by,omitempty"` // by type if it is ""
	Session string      `json:"session_id,omitempty"`
	Type    string      `json:"agent_type,omitempty"`
	Since   time.Time   `json:"since,omitzero"`
	Until   time.Time   `json:"until,omitzero"`
}

// Sums are sums over executions. What a sub-agent used that an agent's CLI started by itself is a part of what the
// execution used that it belongs to: it is in no sum twice.
type Sums struct {
	By    work.StatBy `json:"by"`
	Rows  []Sum       `json:"rows"`
	Total Sum         `json:"total"`
}

// Sum is a sum over the executions that share a key.
type Sum struct {
	Key       string `json:"key"`
	Runs      int    `json:"runs"`
	Open      int    `json:"open"`
	Completed int    `json:"completed"`
	Failed    int    `json:"failed"` // also cancelled and lost
	// Natives is how many of the runs are sub-agents that a CLI started by itself.
	Natives int `json:"natives"`
	// Success is how many percent of those that ended have completed, nil if none has ended.
	Success *float64   `json:"success_percent"`
	Spent   work.Spent `json:"spent"`
	// Within is set if what was spent is a part of what other rows have: the row has only sub-agents.
	Within  bool    `json:"within_others,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Grouped returns what executions can be summed up by.
func Grouped() []work.StatBy {
	return []work.StatBy{work.StatByAgent, work.StatByType, work.StatByModel, work.StatByBundle, work.StatBySession, work.StatByOrigin, work.StatByDay}
}

// Stats sums up executions, the rows with the most runs first, days by date.
func (a *Answers) Stats(ctx context.Context, by Author, q StatsRequest) (Sums, error) {
	q.By = cmp.Or(q.By, work.StatByType)
	if !slices.Contains(Grouped(), q.By) {
		return Sums{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "executions are not summed up by %q", thread.Excerpt(string(q.By))),
			"use agent, type, model, bundle, session, origin or day")
	}
	of := work.StatsQuery{By: q.By, Session: q.Session, Type: q.Type, Since: q.Since, Until: q.Until, Seen: by.seen()}
	var own, hand, natives []work.Stat
	for _, some := range []struct {
		kinds []work.Kind
		into  *[]work.Stat
	}{{[]work.Kind{work.KindRun, work.KindTerminal}, &own}, {[]work.Kind{work.KindHand}, &hand}, {[]work.Kind{work.KindNative}, &natives}} {
		var err error
		of.Kinds = some.kinds
		if *some.into, err = a.c.Store.Stats(ctx, of); err != nil {
			return Sums{}, err
		}
	}
	return sum(q.By, append(own, unseenCost(hand)...), natives), nil
}

// unseenCost returns sums over executions by hand with what is not known of their cost: nobody of us has seen it.
func unseenCost(hand []work.Stat) []work.Stat {
	for i := range hand {
		if u := &hand[i].Usage; *u == (thread.Usage{}) {
			u.Unknown = int64(hand[i].Runs)
		}
	}
	return hand
}

// counted is what is summed up under a key.
type counted struct{ own, natives work.Stat }

// sum joins what executions and sub-agents within them have.
func sum(by work.StatBy, own, natives []work.Stat) Sums {
	keys := map[string]*counted{}
	at := func(key string) *counted {
		if keys[key] == nil {
			keys[key] = &counted{}
		}
		return keys[key]
	}
	var all counted
	for _, s := range own {
		at(s.Key).own = added(at(s.Key).own, s)
		all.own = added(all.own, s)
	}
	for _, s := range natives {
		at(s.Key).natives = s
		all.natives = added(all.natives, s)
	}
	out := Sums{By: by, Rows: []Sum{}, Total: all.sum("")}
	for key, c := range keys {
		row := c.sum(key)
		// With others in the result the row is a part of theirs; alone it is all that was asked for.
		row.Within = c.own.Runs == 0 && c.natives.Runs > 0 && all.own.Runs > 0
		out.Rows = append(out.Rows, row)
	}
	slices.SortFunc(out.Rows, func(a, b Sum) int {
		if by == work.StatByDay {
			return cmp.Compare(b.Key, a.Key)
		}
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Key, b.Key))
	})
	return out
}

func added(a, b work.Stat) work.Stat {
	return work.Stat{
		Runs: a.Runs + b.Runs, Open: a.Open + b.Open, Completed: a.Completed + b.Completed, Failed: a.Failed + b.Failed,
		Usage: a.Usage.Add(b.Usage), Took: a.Took + b.Took,
	}
}

// sum returns what is printed of a key. What was spent, and the time, are those of the sub-agents only if there is nothing
// else: otherwise theirs are within.
func (c counted) sum(key string) Sum {
	both := added(c.own, c.natives)
	spent := c.own
	if c.own.Runs == 0 {
		spent = c.natives
	}
	s := Sum{
		Key: key, Runs: both.Runs, Open: both.Open, Completed: both.Completed, Failed: both.Failed, Natives: c.natives.Runs,
		Spent: work.SpentOf(spent.Usage), Seconds: spent.Took.Seconds(),
	}
	if ended := both.Completed + both.Failed; ended > 0 {
		share := float64(both.Completed) * 100 / float64(ended)
		s.Success = &share
	}
	return s
}
