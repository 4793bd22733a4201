package budget

import (
	"fmt"
	"strings"

	"orchestrator/thread"
)

// Refusal is why a request is not sent.
type Refusal struct {
	Payer
	Spent Spent
	Want  Amount
	// Alone is set if other requests still fit: only this one is too large for what is left.
	Alone bool
	// Unpriced is set if the limit in USD cannot be kept, since the price of Model is not known, for the reason Why.
	Unpriced bool
	Model    string
	Why      string
}

// Error says which budget it is, what is spent of it, and what raises it.
func (r *Refusal) Error() string {
	if r.Unpriced {
		why := r.Why
		if why == "" {
			why = fmt.Sprintf("the price of the model %q is unknown", thread.Excerpt(r.Model))
		}
		return fmt.Sprintf("%s in USD cannot be kept: %s. Give it in tokens with `orchestrator budget set %s --tokens N`",
			r.title(), why, r.Name) + priceHint(r.Why)
	}
	if r.Alone {
		return fmt.Sprintf("%s has no room for this request: %s%s. %s", r.title(), Used(r.Limit, r.Spent), r.next(), Raise(r.Payer))
	}
	return fmt.Sprintf("%s is used up: %s%s. %s", r.title(), Used(r.Limit, r.Spent), r.next(), Raise(r.Payer))
}

// priceHint says where a price is set, if it is only missing.
func priceHint(why string) string {
	if why != "" {
		return ""
	}
	return ", or set a price for the model in [models] of the configuration"
}

// Unwrap lets it be known as a refusal.
func (r *Refusal) Unwrap() error { return thread.ErrRefused }

// next says what the request would have used, if there was something left.
func (r *Refusal) next() string {
	if usedUp(r.Limit, r.Spent.Amount) {
		return ""
	}
	var parts []string
	if r.Limit.USD != nil {
		parts = append(parts, thread.USD(r.Want.USD))
	}
	if r.Limit.Tokens != nil {
		parts = append(parts, thread.Tokens(r.Want.Tokens)+" tokens")
	}
	request := "the next request"
	if r.Alone {
		request = "it"
	}
	return ", and " + request + " would use about " + strings.Join(parts, ", ")
}

// Used says what is spent of a limit: "$0.97 of $1.00, 180k of 200k tokens".
func Used(l thread.Budget, s Spent) string {
	var parts []string
	if l.USD != nil {
		parts = append(parts, fmt.Sprintf("%s of $%.2f", s.Money(), *l.USD))
	}
	if l.Tokens != nil {
		parts = append(parts, fmt.Sprintf("%s of %s tokens", thread.Tokens(s.Tokens), thread.Tokens(*l.Tokens)))
	}
	return strings.Join(parts, ", ")
}

// Left says what is left of a limit: "$3.80 of $5.00, 20k of 200k tokens".
func Left(l thread.Budget, s Spent) string {
	var parts []string
	if l.USD != nil {
		parts = append(parts, fmt.Sprintf("%s of $%.2f", thread.USD(max(0, *l.USD-s.USD)), *l.USD))
	}
	if l.Tokens != nil {
		parts = append(parts, fmt.Sprintf("%s of %s tokens", thread.Tokens(max(0, *l.Tokens-s.Tokens)), thread.Tokens(*l.Tokens)))
	}
	return strings.Join(parts, ", ")
}

// Raise says how a budget is raised.
func Raise(p Payer) string {
	flag := "--usd N"
	if p.Limit.USD == nil {
		flag = "--tokens N"
	}
	return fmt.Sprintf("Raise it with `orchestrator budget set %s %s`", p.Name, flag)
}

// Unread says that what was spent cannot be read: nothing that depends on it is let pass.
func Unread(err error) error {
	return fmt.Errorf("what budgets have spent so far cannot be read: %w", err)
}
