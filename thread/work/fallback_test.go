package work

import (
	"errors"
	"testing"

	"orchestrator/thread"
)

func TestCheckFallback(t *testing.T) {
	for fallback, ok := range map[string]bool{
		"": true, "none": true, "codex": true, "model:haiku": true, "claude": false, "model:": false, "model:opus": false,
	} {
		if err := CheckFallback(fallback, "claude", "opus"); (err == nil) != ok || err != nil && !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%q: %v", fallback, err)
		}
	}
}

// TestOneHop: a fallback is taken once, and has none itself.
func TestOneHop(t *testing.T) {
	x := Execution{Fallback: "model:haiku", Model: "opus", Attempt: 3, Retries: 4}
	x.FallBack("new")
	if x.FellBack != 4 || x.Former != "opus" || x.Model != "haiku" || x.Chosen == "" || x.Retries != 0 || x.Instead != "" || x.Offers() {
		t.Errorf("another model: %+v", x)
	}
	x = Execution{Fallback: "codex"}
	if !x.Offers() {
		t.Error("it offers none")
	}
	x.FallBack("new")
	if x.Instead != "new" || x.Offers() {
		t.Errorf("another agent: %+v", x)
	}
	if (Execution{Fallback: "claude", For: "x"}).Offers() || (Execution{Fallback: NoFallback}).Offers() {
		t.Error("a fallback has a fallback")
	}
}

func TestRest(t *testing.T) {
	n, usd := int64(100), 1.0
	used := thread.Usage{Input: 30, Output: 20, CostUSD: 0.25}
	r := Rest(thread.Budget{Tokens: &n, USD: &usd}, used)
	if *r.Tokens != 50 || *r.USD != 0.75 || n != 100 || usd != 1 {
		t.Errorf("%d, %f", *r.Tokens, *r.USD)
	}
	if r = Rest(thread.Budget{Tokens: &n}, thread.Usage{Input: 1000}); *r.Tokens != 0 || r.USD != nil {
		t.Errorf("used up: %+v", r)
	}
	if Rest(thread.Budget{}, used).Set() {
		t.Error("no limit became one")
	}
}
