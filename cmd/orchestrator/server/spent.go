package server

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/spending"
)

// configured returns a budget as it is configured: 0 is no limit.
func configured(tokens int64, usd float64) (b thread.Budget) {
	if tokens > 0 {
		b.Tokens = &tokens
	}
	if usd > 0 {
		b.USD = &usd
	}
	return b
}

// spent returns what a thread or the project has spent so far, side requests included, threads that are at rest and those
// that are gone too: what was counted by day, or with the thread's answers, whichever is more. The first may lack the last
// second before a kill, the second what is beside a conversation.
func (a *Server) spent(s budget.Scope) (budget.Spent, error) {
	ctx := context.Background()
	byDay, err := a.ledger.ByThread(ctx)
	if err != nil {
		return budget.Spent{}, fmt.Errorf("read what was spent: %w", err)
	}
	if s.Kind == budget.Thread {
		id := thread.ID(s.ID)
		t, err := a.manager.Threads.Status(ctx, s.ID)
		switch {
		case errors.Is(err, thread.ErrNotFound):
			return counted(byDay[id]), nil
		case err != nil:
			return budget.Spent{}, fmt.Errorf("read what a thread has spent: %w", err)
		}
		return larger(counted(byDay[id]), answered(t)), nil
	}
	var sum budget.Spent
	seen := map[thread.ID]bool{}
	add := func(t thread.Status) {
		if seen[t.ID] {
			return
		}
		seen[t.ID] = true
		sum = sum.Plus(larger(counted(byDay[t.ID]), answered(t)))
		delete(byDay, t.ID)
	}
	list, err := a.manager.Threads.List(ctx)
	if err == nil {
		for _, t := range list {
			add(t)
		}
		err = thread.EachThread(ctx, a.store, thread.Query{Use: thread.AtRest}, func(t thread.Thread) error {
			if t.Deleted.IsZero() {
				add(thread.Status{Thread: t})
			}
			return nil
		})
	}
	if err != nil {
		return budget.Spent{}, fmt.Errorf("read what threads have spent: %w", err)
	}
	for _, s := range byDay {
		sum = sum.Plus(counted(s))
	}
	return sum, nil
}

// counted is what was counted by day, as what was spent.
func counted(s spending.Spent) budget.Spent {
	out := budget.Spent{Amount: budget.Amount{Tokens: s.Tokens()}, Answers: s.Answers, Unknown: s.Unpriced}
	if s.USD != nil {
		out.USD = *s.USD
	}
	return out
}

// answered is what a thread's answers have used, as what was spent.
func answered(t thread.Status) budget.Spent {
	usd, known := t.Cost()
	out := budget.Spent{Amount: budget.Amount{Tokens: t.Usage.Context(), USD: usd}, Unknown: t.Usage.Unknown}
	if !known && out.Tokens > 0 {
		out.Unknown = max(1, out.Unknown)
	}
	return out
}

// larger returns the more of each.
func larger(a, b budget.Spent) budget.Spent {
	return budget.Spent{
		Amount:  budget.Amount{Tokens: max(a.Tokens, b.Tokens), USD: max(a.USD, b.USD)},
		Answers: max(a.Answers, b.Answers), Unknown: max(a.Unknown, b.Unknown),
	}
}
