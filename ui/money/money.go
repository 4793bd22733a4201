// Package money shows what was spent: today in a few words for the head line, and all of it in a panel with sums, a
// chart of the last days, what agents, models and threads cost, and the limits of providers.
//
// The server sums it up. It is asked when a thread's cost has changed, at most every few seconds, and when a day or a limit
// ends; where nothing happens, nothing is asked. What has no known price is shown as "?", never as 0.
package money

import (
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/spending"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Feature has what was spent.
type Feature struct {
	account *account
	panel   *panel // open or closed
}

// New adds the feature to a host. visit shows a thread.
func New(h *host.Host, visit func(thread.ID) tea.Cmd) *Feature {
	f := &Feature{account: &account{Host: h, stale: true}}
	f.panel = &panel{account: f.account, visit: visit}
	h.Actions.On(intent.Money, func() tea.Cmd { return f.show(f.panel.by) })
	return f
}

// BySession shows what each work session has spent.
func (f *Feature) BySession() tea.Cmd { return f.show(slices.Index(tabs[:], spending.BySession)) }

func (f *Feature) show(by int) tea.Cmd {
	f.panel = &panel{account: f.account, visit: f.panel.visit, by: by, period: f.panel.period}
	f.account.Dialogs.Push(f.panel)
	f.account.hurry()
	return f.Follow()
}

// Changed tells that a thread is in another state; before is nil for a new one.
func (f *Feature) Changed(before, now *thread.Status) {
	if before == nil || before.Gauge.CostUSD != now.Gauge.CostUSD || before.Usage != now.Usage || before.State.State != now.State.State {
		f.account.stale = true
	}
}

// Again tells that the server may know something else, because it is another one.
func (f *Feature) Again() { f.account.stale = true }

// Follow asks for what is out of date. Call it after every message.
func (f *Feature) Follow() tea.Cmd {
	if f.account.Dialogs.Has(f.panel) {
		return f.account.load(f.panel.query())
	}
	return f.account.load(spending.Query{Brief: true})
}

// Head is what the head line shows.
type Head struct {
	// Today is what was spent today, such as "$12.84" or "$3.10 + ?"; "" if that is not known yet.
	Today string
	// Window is that of the limit of which most is used, such as "5h", "" if there is none; with the share in percent, and
	// when it ends.
	Window string
	Share  float64
	Ends   time.Time
	// Budget is how much of the budget is used of which most is, "" if there is none.
	Budget string
	Used   float64
}

// Head returns it.
func (f *Feature) Head() Head {
	a := f.account
	if !a.known {
		return Head{}
	}
	h := Head{Today: a.head.Today.Money()}
	if q, ok := a.limit(); ok {
		if share, known := q.Share(); known {
			h.Window, h.Share, h.Ends = q.Label(), share, q.Resets
		}
	}
	for _, b := range a.head.Budgets {
		if share := shareOf(b); h.Budget == "" || share > h.Used {
			h.Budget, h.Used = "budget", share
			if b.Scope.Kind != budget.Project {
				h.Budget += " of " + plain.Cut(plain.Line(b.Name), mostName)
			}
		}
	}
	return h
}

// mostName is how many cells of a scope's name the head line has.
const mostName = 18

// Of says how much of the budget of a thread is used, or of that of its run; "" if it has none.
func (f *Feature) Of(s *thread.Status) string {
	if !f.account.known {
		return ""
	}
	said, most := "", -1.0
	for _, b := range f.account.head.Budgets {
		own := b.Scope == budget.Scope{Kind: budget.Thread, ID: string(s.ID)} ||
			s.Run != nil && b.Scope.Kind == budget.Execution && b.Name == s.Run.Execution ||
			s.Once.Group != "" && b.Scope == budget.Scope{Kind: budget.Group, ID: s.Once.Group}
		if share := shareOf(b); own && share > most {
			said, most = "budget "+thread.Percent(share), share
		}
	}
	return said
}

// OfWork says how much of the budget of a thread's work session is used; "" if it has none.
func (f *Feature) OfWork(s *thread.Status) string {
	if b, known := f.Budget(budget.OfSession(s.Once.Session)); known && s.Once.Session != "" {
		return "work " + thread.Percent(shareOf(b))
	}
	return ""
}

// Budget returns how much of the budget of a scope is spent, false if it has none, or if that is not known yet.
func (f *Feature) Budget(s budget.Scope) (budget.Account, bool) {
	for _, b := range f.account.head.Budgets {
		if b.Scope == s && f.account.known {
			return b, true
		}
	}
	return budget.Account{}, false
}
