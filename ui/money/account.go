package money

import (
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/budget"
	"orchestrator/thread/spending"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// apart is how much time is at least between two reports that nobody waits for.
const apart = 5 * time.Second

// account has the newest report.
type account struct {
	*host.Host
	head   spending.Report // today and the limits
	report spending.Report // all of it, once the panel was open
	period spending.Period // of report
	known  bool            // there is a head
	whole  bool            // there is a report
	err    string          // why the newest one is not there

	stale  bool // what was spent has changed
	flying bool // a report is on its way
	gen    int  // of what is wanted; an answer to an earlier question is dropped
	next   time.Time
	turn   time.Time // when what is known will be out of date by itself
	alarm  time.Time // when a timer is set for
}

// hurry has a report asked for at once, because something else is wanted.
func (a *account) hurry() {
	a.stale, a.flying, a.next = true, false, time.Time{}
	a.gen++
}

// load asks for a report, if what is known is out of date, none is on its way and the last one is a while ago.
func (a *account) load(q spending.Query) tea.Cmd {
	if !a.stale || a.flying {
		return nil
	}
	now := a.Clock()
	if now.Before(a.next) {
		return a.wake(a.next)
	}
	a.stale, a.flying, a.next = false, true, now.Add(apart)
	if !a.alarm.After(now) {
		a.alarm = time.Time{} // its timer, which may be just behind, would ask once more
	}
	gen := a.gen
	return host.Call(a.Host, host.Quick, api.Cost.On(a.Server, q), func(r spending.Report, err error) tea.Cmd {
		if gen != a.gen {
			return nil
		}
		a.flying = false
		return a.fill(q, r, err)
	})
}

// fill takes a report over.
func (a *account) fill(q spending.Query, r spending.Report, err error) tea.Cmd {
	if err != nil {
		a.err = err.Error()
		a.stale = !q.Brief // somebody looks at it: again, in a while
		return nil
	}
	a.err, a.known = "", true
	a.head = spending.Report{Today: r.Today, Quotas: r.Quotas, Budgets: r.Budgets}
	if !q.Brief {
		a.report, a.period, a.whole = r, q.Period, true
	}
	a.turn = a.changes()
	return a.wake(a.turn)
}

// changes returns when the head will be out of date by itself: at midnight, or when the limit that it names ends.
func (a *account) changes() time.Time {
	now := a.Clock()
	at := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 1, 0, now.Location())
	if len(a.head.Quotas) > 0 {
		if end := a.head.Quotas[0].Resets; end.After(now) && end.Before(at) {
			at = end.Add(time.Second)
		}
	}
	return at
}

// wake has it looked at a time whether a report is wanted, unless that happens earlier anyway.
func (a *account) wake(at time.Time) tea.Cmd {
	now := a.Clock()
	if at.IsZero() || a.alarm.After(now) && !at.Before(a.alarm) {
		return nil
	}
	a.alarm = at
	return a.After(max(at.Sub(now), 0), host.Reply(func() tea.Cmd {
		if !a.alarm.Equal(at) {
			return nil
		}
		a.alarm = time.Time{}
		if !a.turn.IsZero() && !a.Clock().Before(a.turn) {
			a.stale, a.turn = true, time.Time{}
		}
		return a.wake(a.turn)
	}))
}

// limit returns the tightest limit that holds, and false if there is none.
func (a *account) limit() (thread.Quota, bool) {
	if all := thread.Tightest(a.head.Quotas, a.Clock()); len(all) > 0 {
		return all[0], true
	}
	return thread.Quota{}, false
}

// shareOf returns how much of a budget is used, in percent; all of one under which nothing fits any more.
func shareOf(b budget.Account) float64 {
	if b.Level >= budget.Over {
		return max(100, budget.Share(b.Limit, b.Spent.Amount))
	}
	return budget.Share(b.Limit, b.Spent.Amount)
}
