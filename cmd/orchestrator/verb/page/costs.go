package page

import (
	"fmt"
	"io"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/spending"
	"orchestrator/ui/plain"
)

// Costs prints what was spent, and the limits of providers.
func Costs(w io.Writer, r spending.Report, now time.Time) {
	fmt.Fprintf(w, "today %s   week %s   month %s\n", r.Today.Money(), r.Week.Money(), r.Month.Money())
	if saved := r.Month.Saved(); saved != "" {
		fmt.Fprintf(w, "saved by masking this month, less what it cost: %s\n", saved)
	}
	fmt.Fprintln(w)
	if len(r.Groups) == 0 {
		fmt.Fprintf(w, "nothing was spent since %s\n", r.Since)
	} else {
		fmt.Fprintf(w, "since %s:\n", r.Since)
		var t Columns
		t.Row(costHead(r.By)...)
		for _, g := range r.Groups {
			t.Row(costRow(r.By, g)...)
		}
		t.Print(w)
	}
	if len(r.Budgets) > 0 {
		fmt.Fprintln(w)
		Budgets(w, r.Budgets)
	}
	if len(r.Quotas) == 0 {
		return
	}
	fmt.Fprintln(w)
	var t Columns
	t.Row("LIMIT", "PROVIDER", "USED", "ENDS")
	for _, q := range r.Quotas {
		used, ends := "?", "?"
		if share, known := q.Share(); known {
			used = thread.Percent(share)
		}
		if !q.Resets.IsZero() {
			ends = "in " + thread.Age(q.Resets.Sub(now))
		}
		t.Row(q.Label(), q.Upstream, used, ends)
	}
	t.Print(w)
}

func costHead(by spending.By) []string {
	numbers := []string{"COST", "CACHE", "SAVED", "ANSWERS", "TOKENS"}
	switch by {
	case spending.ByAgent:
		return append([]string{"AGENT"}, append(numbers, "THREADS")...)
	case spending.BySession:
		return append([]string{"WORK SESSION"}, append(numbers, "THREADS")...)
	case spending.ByThread:
		return append([]string{"THREAD", "AGENT", "MODEL"}, numbers...)
	default:
		return append([]string{"AGENT", "MODEL"}, append(numbers, "THREADS")...)
	}
}

func costRow(by spending.By, g spending.Group) []string {
	s := g.Spent
	cached := "-"
	if share, known := s.Cached(); known {
		cached = thread.Percent(share)
	}
	numbers := []string{s.Money(), cached, s.Saved(), thousands(s.Answers), thread.Tokens(s.Tokens())}
	agent, model := s.Agent, g.Model()
	if g.Others > 0 {
		agent, model = plain.Count(g.Others, "other"), ""
	}
	switch by {
	case spending.ByAgent:
		return append([]string{Dash(agent)}, append(numbers, g.ThreadCount())...)
	case spending.BySession:
		name := g.Title(by)
		if g.Others > 0 {
			name = agent
		}
		return append([]string{name}, append(numbers, g.ThreadCount())...)
	case spending.ByThread:
		name := g.Title(by)
		if g.Others > 0 {
			name, agent = agent, ""
		}
		return append([]string{name, Dash(agent), Dash(model)}, numbers...)
	default:
		return append([]string{Dash(agent), Dash(model)}, append(numbers, g.ThreadCount())...)
	}
}
