package page

import (
	"fmt"
	"io"

	"orchestrator/thread"
	"orchestrator/thread/budget"
)

// Budgets prints budgets: what is spent, what is held back, and what is left.
func Budgets(w io.Writer, accounts []budget.Account) {
	var t Columns
	t.Row("SCOPE", "SPENT", "TOKENS", "IN FLIGHT", "LIMIT", "USED", "UNKNOWN")
	for _, a := range accounts {
		flight, limit, used, unknown := "-", "none", "-", "-"
		if a.InFlight > 0 {
			flight = fmt.Sprintf("%d · ~%s, %s tokens", a.InFlight, thread.USD(a.Reserved.USD), thread.Tokens(a.Reserved.Tokens))
		}
		if a.Limit.Set() {
			limit = budget.Format(a.Limit)
			used = thread.Percent(budget.Share(a.Limit, a.Spent.Amount))
			if a.Level >= budget.Over {
				used += " (used up)"
			}
		}
		if a.Spent.Unknown > 0 {
			unknown = fmt.Sprintf("%d of %d", a.Spent.Unknown, max(a.Spent.Answers, a.Spent.Unknown))
		}
		t.Row(a.Name, a.Spent.Money(), thread.Tokens(a.Spent.Tokens), flight, limit, used, unknown)
	}
	t.Print(w)
}
