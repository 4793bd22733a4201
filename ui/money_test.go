package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/spending"
)

// spent has the server know what was spent on 14 days, partly at unknown prices, and two limits.
// budgets has the server know of some: one is used up, one nearly, and the cost of one is not known in part.
func (r *rig) budgets() {
	r.spent()
	account := func(kind budget.Kind, id, name string, limit, spent float64, unknown int64, level budget.Level) {
		r.srv.budgets = append(r.srv.budgets, budget.Account{
			Payer: budget.Payer{Scope: budget.Scope{Kind: kind, ID: id}, Name: name, Limit: thread.Budget{USD: &limit}},
			Spent: budget.Spent{Amount: budget.Amount{USD: spent, Tokens: 84_000}, Answers: 12, Unknown: unknown}, Level: level,
		})
	}
	account(budget.Project, "", "project", 200, 12.84, 1, budget.Fine)
	account(budget.Group, "night", "group:night", 1, 0.97, 0, budget.Over)
	account(budget.Thread, "auth-feature-a3f2", "auth-feature-a3f2", 10, 8.31, 0, budget.Warned)
}

func (r *rig) spent() {
	today := time.Now()
	row := func(back int, agent, model string, id thread.ID, usd float64) {
		s := spending.Spent{Day: today.AddDate(0, 0, -back).Format(time.DateOnly), Agent: agent, Model: model, Thread: id,
			Answers: 10, Input: 16_000, CacheRead: 84_000, Output: 3000}
		if usd < 0 {
			s.Unpriced = 10
		} else {
			saved := usd / 3
			s.USD, s.SavedUSD, s.SavedOf = &usd, &saved, 10
		}
		r.srv.spent = append(r.srv.spent, s)
	}
	for back, usd := range []float64{8.31, 9.2, 8.4, 3, 0.8, 1.2, 2, 5.5, 6.3, 3.1, 0, 1.9, 2.2, 0.9} {
		row(back, "claude", "claude-sonnet-4-5", "auth-feature-a3f2", usd)
	}
	row(0, "codex", "gpt-5.5", "try-jwt-b7c1", 3.9)
	row(0, "gemini", "gemini-3-pro", "docs-f9a0", 0.63)
	row(0, "opencode", "a-model-with-a-very-long-name-that-nobody-has-a-price-for", "gone-0000", -1)
	row(1, "opencode", "glm", "", 0.002)
	used, week := 0.61, 0.22
	r.srv.quotas = []thread.Quota{
		{Upstream: "api.anthropic.com", Window: "unified-5h", Used: &used, Resets: today.Add(131 * time.Minute), At: today},
		{Upstream: "api.anthropic.com", Window: "unified-7d", Used: &week, Resets: today.Add(75 * time.Hour), At: today},
	}
}

// costs counts how often the server was asked what was spent.
func (r *rig) costs() int {
	r.srv.mu.Lock()
	defer r.srv.mu.Unlock()
	return len(r.srv.costs)
}

// TestMoneyIsAskedSparingly: the head line is asked for when a thread's cost changes, at most every five seconds, and at
// midnight; never while nothing happens.
func TestMoneyIsAskedSparingly(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		r.spent()
		r.wait(10 * time.Second)
		began := r.costs()
		if head := r.m.money.Head(); began == 0 || head.Today != "$12.84 + ?" && began > 1 {
			t.Errorf("after %d reports the head is %+v", began, head)
		}
		s, start := r.srv.threads[0], time.Now()
		for i := range 100 {
			s.Gauge.CostUSD += 0.01
			s.Seq = int64(i + 1)
			now := s
			r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &now})
			r.wait(100 * time.Millisecond)
		}
		r.wait(10 * time.Second)
		if n, took := r.costs()-began, time.Since(start); n < 2 || n > int(took/(5*time.Second))+1 {
			t.Errorf("asked %d times in %v with a hundred changes", n, took)
		}
		if head := r.m.money.Head(); head.Today != "$12.84 + ?" || head.Window != "5h" || head.Share != 61 {
			t.Errorf("the head is %+v", head)
		}
		began = r.costs()
		r.wait(time.Minute)
		if n := r.costs() - began; n != 0 {
			t.Errorf("asked %d times while nothing happened", n)
		}
		time.Sleep(131 * time.Minute)
		r.settle()
		if head := r.m.money.Head(); r.costs() != began+1 || head.Window != "7d" || head.Share != 22 {
			t.Errorf("asked %d times after the limit ended, the head is %+v", r.costs()-began, head)
		}
		time.Sleep(24 * time.Hour)
		r.settle()
		if head := r.m.money.Head(); head.Today != "$0.00" {
			t.Errorf("the next day the head is %+v", head)
		}
	})
}

// TestMoneyFollowsItsKeys: periods by h and l, groupings by tab, a thread by enter; what is shown is what was asked for
// last, and an error does not replace it.
func TestMoneyFollowsItsKeys(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.spent()
		r.keys("$")
		r.must("▸today $12.84 + ?", "▸model", "gpt-5.5")
		r.keys("l", "l", "l", "shift+tab", "shift+tab")
		if want := (spending.Query{By: spending.ByThread, Period: spending.Month}); r.srv.costs[r.costs()-1] != want {
			t.Errorf("asked for %+v", r.srv.costs)
		}
		r.must("▸month", "▸thread")
		r.keys("h")
		r.must("▸week", "▸thread", "further threads", "gone-0000 (deleted)")
		r.srv.err = errors.New("the disk is gone")
		r.keys("h")
		r.must("not up to date: the disk is gone", "▸thread")
		r.srv.err = nil
		r.keys("home", "down", "enter")
		if sel := r.m.tree.Selected(); r.m.dialogs.Open() || sel == nil || sel.ID != "try-jwt-b7c1" {
			t.Errorf("enter goes to %v", sel)
		}
	})
}

// TestOfferOfAFullContext asks by the share that is used now, not by that of the moment it was made.
func TestOfferOfAFullContext(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.offer(thread.Offer{ID: "o1", Thread: "auth-feature-a3f2", Label: "continue fresh", Rule: thread.OfferFull, Why: "the context is 96% full"})
		fill := func(tokens int64) {
			s := *r.m.tree.Thread("auth-feature-a3f2")
			s.Gauge.Tokens, s.Seq = tokens, s.Seq+1
			r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
			r.wait(100 * time.Millisecond)
		}
		fill(192_000)
		r.must("Context 96%. Go on in a fresh fork?", "a yes", "x no")
		fill(218_000)
		r.must("Context 109%. Go on in a fresh fork?")
		if see := r.see(); strings.Contains(see, "96%") {
			t.Errorf("the first share stands:\n%s", see)
		}
	})
}
