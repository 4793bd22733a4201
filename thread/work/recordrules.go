package work

import (
	"cmp"
	"slices"
	"time"

	"orchestrator/thread"
)

// Size returns how many executions a query may return.
func (q RecordQuery) Size() int { return Query{Limit: q.Limit}.Size() }

// Selects reports whether a query asks for an execution, but for its words and the paths of its outputs.
func (q RecordQuery) Selects(x Execution) bool {
	return (q.Session == "" || q.Session == x.Session) && (q.Task == "" || q.Task == x.Task) && (q.Type == "" || q.Type == x.AgentType()) &&
		(q.Agent == "" || q.Agent == x.Agent) && (q.Model == "" || q.Model == x.Model) && (q.Bundle == "" || q.Bundle == x.Bundle) &&
		(q.Parent == "" || q.Parent == x.Parent) && (q.Thread == "" || q.Thread == x.Thread) && seen(q.Seen, x) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, x.Kind)) && (len(q.States) == 0 || slices.Contains(q.States, x.State)) &&
		within(x.Created, q.Since, q.Until) && ofPart(q.Part, x.Part)
}

// ofPart reports whether an execution is of what is asked for of a plan's task.
func ofPart(asked, p thread.Part) bool {
	return asked == thread.Part{} || asked.Task == p.Task && (asked.Agent == "" || asked.Agent == p.Agent) && (asked.Round == 0 || asked.Round == p.Round)
}

// Selects reports whether an execution is among those that are summed up.
func (q StatsQuery) Selects(x Execution) bool {
	return x.State != Queued && (q.Session == "" || q.Session == x.Session) &&
		(len(q.Sessions) == 0 || slices.Contains(q.Sessions, x.Session)) && (q.Type == "" || q.Type == x.AgentType()) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, x.Kind)) && seen(q.Seen, x) && within(x.Created, q.Since, q.Until)
}

// Chosen returns which of the sums, in the order of their keys, a query asks for.
func (q StatsQuery) Chosen(all []Stat) []Stat {
	if q.Best <= 0 {
		return all
	}
	all = slices.DeleteFunc(all, func(s Stat) bool { return s.Key == "" })
	slices.SortStableFunc(all, func(a, b Stat) int {
		return cmp.Or(cmp.Compare(b.Completed, a.Completed), cmp.Compare(a.Failed, b.Failed))
	})
	return all[:min(len(all), q.Best)]
}

// Key returns what an execution is summed up by; thread.ErrInvalid if that is not known.
func (q StatsQuery) Key(x Execution) (string, error) {
	switch q.By {
	case StatByAgent:
		return x.Agent, nil
	case StatByType:
		return x.AgentType(), nil
	case StatByModel:
		return x.Model, nil
	case StatByBundle:
		return x.Bundle, nil
	case StatBySession:
		return x.Session, nil
	case StatByOrigin:
		return string(x.Kind.Origin()), nil
	case StatByDay:
		return x.Created.UTC().Format(time.DateOnly), nil
	default:
		return "", thread.Hint(thread.Kindf(thread.ErrInvalid, "executions are not summed up by %q", string(q.By)),
			"take agent, type, model, bundle, session, origin or day")
	}
}

// mostTook is the longest time that counts as that of one execution, and mostOf the largest number: what somebody claims
// must not make the sum of all overflow.
const (
	mostTook = 366 * 24 * time.Hour
	mostOf   = int64(1e12)
	mostCost = 1e9
)

// Took returns how long an execution worked, 0 if it has no start or no end.
func (x Execution) Took() time.Duration {
	if x.Started.IsZero() || x.Ended.IsZero() {
		return 0
	}
	return min(max(x.Ended.Sub(x.Started), 0), mostTook).Truncate(time.Microsecond)
}

// Summed returns the usage of an execution as it goes into sums.
func (x Execution) Summed() thread.Usage {
	u := x.Usage
	for _, n := range []*int64{&u.Input, &u.CacheRead, &u.CacheWrite, &u.CacheWriteHour, &u.Output, &u.Unknown} {
		*n = min(max(*n, 0), mostOf)
	}
	if !(u.CostUSD >= 0) { // also what is no number
		u.CostUSD = 0
	}
	u.CostUSD = min(u.CostUSD, mostCost)
	return u
}

// Sum adds an execution to those that share its key.
func (s *Stat) Sum(x Execution) {
	s.Runs++
	switch {
	case !x.State.Final():
		s.Open++
	case x.State == Completed:
		s.Completed++
	default:
		s.Failed++
	}
	s.Usage = s.Usage.Add(x.Summed())
	s.Took += x.Took()
}

func seen(by *thread.ID, x Execution) bool {
	return by == nil || *by != "" && (x.Thread == *by || x.By == *by)
}

func within(at, since, until time.Time) bool {
	return !at.Before(since) && (until.IsZero() || at.Before(until))
}
