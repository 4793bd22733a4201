package budget_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
	"orchestrator/thread/budget"
)

func usd(n float64) thread.Budget           { return thread.Budget{USD: &n} }
func tokens(n int64) thread.Budget          { return thread.Budget{Tokens: &n} }
func both(n float64, t int64) thread.Budget { return thread.Budget{USD: &n, Tokens: &t} }

var project = budget.Payer{Scope: budget.All(), Name: "project"}

func of(kind budget.Kind, id string, l thread.Budget) budget.Payer {
	name := id
	if kind == budget.Group {
		name = budget.GroupPrefix + id
	}
	if kind == budget.Session {
		name = budget.SessionPrefix + id
	}
	return budget.Payer{Scope: budget.Scope{Kind: kind, ID: id}, Name: name, Limit: l}
}

func paid(all ...budget.Payer) func() ([]budget.Payer, error) {
	return func() ([]budget.Payer, error) { return all, nil }
}

// account returns what is known of a payer.
func account(b *budget.Books, p budget.Payer) budget.Account {
	a, err := b.Account(p)
	if err != nil {
		panic(err)
	}
	return a
}

// stops reports whether the budget of one of the payers is used up.
func stops(b *budget.Books, all ...budget.Payer) bool {
	_, stops, err := b.Stops(all)
	return stops || err != nil
}

// dollars asks with a price of a dollar for 1000 tokens.
func dollars(input int64) budget.Ask {
	return budget.Ask{Model: "m", Main: true, Input: input, Cost: func(out int64) (float64, bool) {
		return float64(input+out) / 1000, true
	}}
}

func used(input, output int64) thread.Usage {
	return thread.Usage{Input: input, Output: output, CostUSD: float64(input+output) / 1000, Priced: true}
}

func silent(budget.Crossing) {}

func TestReserve(t *testing.T) {
	unpriced := budget.Ask{Model: "odd", Input: 10}
	for name, tc := range map[string]struct {
		payers []budget.Payer
		before budget.Spent
		ask    budget.Ask
		says   string // "" if it passes
	}{
		"no limit":            {[]budget.Payer{project}, budget.Spent{}, dollars(1e6), ""},
		"fits":                {[]budget.Payer{of(budget.Thread, "t", usd(5))}, budget.Spent{}, dollars(2000), ""},
		"exactly":             {[]budget.Payer{of(budget.Thread, "t", usd(4))}, budget.Spent{}, dollars(2000), ""},
		"a token too much":    {[]budget.Payer{of(budget.Thread, "t", tokens(3999))}, budget.Spent{}, dollars(2000), "would use about 4.0k tokens"},
		"nothing allowed":     {[]budget.Payer{of(budget.Execution, "exec-001", usd(0))}, budget.Spent{}, dollars(0), "the budget of exec-001 is used up: $0.00 of $0.00."},
		"no tokens allowed":   {[]budget.Payer{of(budget.Group, "night", tokens(0))}, budget.Spent{}, unpriced, "budget set group:night --tokens N"},
		"used up":             {[]budget.Payer{of(budget.Thread, "t", usd(5))}, budget.Spent{Amount: budget.Amount{USD: 5.01}}, dollars(0), "$5.01 of $5.00"},
		"the project's":       {[]budget.Payer{of(budget.Thread, "t", usd(9)), {Scope: budget.All(), Name: "project", Limit: usd(1)}}, budget.Spent{}, dollars(0), "the budget of the project has no room for this request: $0.00 of $1.00, and it would use about $2.00. Raise it"},
		"no price, a run":     {[]budget.Payer{of(budget.Execution, "exec-001", usd(5))}, budget.Spent{}, unpriced, `the price of the model "odd" is unknown`},
		"a work session":      {[]budget.Payer{of(budget.Session, "search", usd(1))}, budget.Spent{}, dollars(2000), "the budget of the work session search has no room for this request: $0.00 of $1.00"},
		"no price, a session": {[]budget.Payer{of(budget.Session, "search", usd(5))}, budget.Spent{}, unpriced, "[models]"},
		"no price, a group":   {[]budget.Payer{of(budget.Group, "g", usd(5))}, budget.Spent{}, unpriced, "[models]"},
		"a login, a run":      {[]budget.Payer{of(budget.Execution, "exec-001", usd(5))}, budget.Spent{}, budget.Ask{Why: "a login pays"}, "cannot be kept: a login pays. Give it in tokens with `orchestrator budget set exec-001 --tokens N`"},
		"no price, a thread":  {[]budget.Payer{of(budget.Thread, "t", usd(5))}, budget.Spent{}, unpriced, ""},
		"no price, in tokens": {[]budget.Payer{of(budget.Execution, "exec-001", tokens(5000))}, budget.Spent{}, unpriced, ""},
		"an absurd price": {[]budget.Payer{of(budget.Execution, "exec-001", usd(5))}, budget.Spent{},
			budget.Ask{Model: "m", Cost: func(int64) (float64, bool) { return math.NaN(), true }}, "is unknown"},
		"an absurd size": {[]budget.Payer{of(budget.Execution, "exec-001", tokens(5))}, budget.Spent{}, budget.Ask{Input: math.MaxInt64}, "used up"},
	} {
		t.Run(name, func(t *testing.T) {
			b := budget.New(func(budget.Scope) (budget.Spent, error) { return tc.before, nil }, silent)
			h, err := b.Reserve(t.Context(), paid(tc.payers...), tc.ask)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("%v, want %q", err, tc.says)
			}
			if err != nil && !errors.Is(err, thread.ErrRefused) {
				t.Errorf("%v is no refusal", err)
			}
			h.Release()
			for _, p := range tc.payers {
				if a := account(b, p); a.Reserved != (budget.Amount{}) || a.Spent != tc.before {
					t.Errorf("after it: %+v", a)
				}
			}
		})
	}
}

// Whatever answers come, and however many requests are in flight at once, what is spent exceeds a limit by no more than
// what answers took beyond what was held back for them.
func TestOverspend(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit := both(1+r.Float64()*20, int64(2000+r.IntN(40_000)))
		p, g := of(budget.Execution, "x", limit), of(budget.Group, "g", usd(1+r.Float64()*20))
		s := of(budget.Session, "s", usd(1+r.Float64()*20))
		s.WarnAt = r.Float64()
		b := budget.New(nil, silent)
		type request struct {
			hold          *budget.Hold
			input, output int64
		}
		var mu sync.Mutex
		var overUSD, overTokens, sumUSD float64
		var sumTokens int64
		var all sync.WaitGroup
		for range 8 {
			mine := rand.New(rand.NewPCG(seed, r.Uint64()))
			all.Go(func() {
				for range 40 {
					q := request{input: int64(mine.IntN(3000)), output: int64(mine.IntN(200))}
					if mine.IntN(4) == 0 {
						q.output *= 30
					}
					ask := dollars(q.input)
					ask.Model = []string{"a", "b", "c"}[mine.IntN(3)]
					var err error
					if q.hold, err = b.Reserve(t.Context(), paid(p, g, s), ask); err != nil {
						return
					}
					if a := account(b, p); a.Spent.Tokens+a.Reserved.Tokens < q.hold.Want().Tokens {
						t.Errorf("held %+v of %+v", q.hold.Want(), a)
					}
					u := used(q.input, q.output)
					mu.Lock()
					overUSD += max(0, u.CostUSD-q.hold.Want().USD)
					overTokens += float64(max(0, u.Context()-q.hold.Want().Tokens))
					sumUSD += u.CostUSD
					sumTokens += u.Context()
					mu.Unlock()
					q.hold.Settle(u)
				}
			})
		}
		all.Wait()
		for _, p := range []budget.Payer{p, g, s} {
			a := account(b, p)
			if math.Abs(a.Spent.USD-sumUSD) > 1e-6 && !(sumUSD == 0) || a.Spent.Tokens != sumTokens && sumTokens > 0 || a.InFlight != 0 || a.Reserved != (budget.Amount{}) {
				t.Fatalf("seed %d: %+v, spent %v and %v", seed, a, sumUSD, sumTokens)
			}
			if a.Spent.USD > *p.Limit.USD+overUSD+1e-6 {
				t.Fatalf("seed %d: %v of %v spent, beyond what was held back by %v", seed, a.Spent.USD, *p.Limit.USD, overUSD)
			}
			if p.Limit.Tokens != nil && float64(a.Spent.Tokens) > float64(*p.Limit.Tokens)+overTokens {
				t.Fatalf("seed %d: %v of %v tokens", seed, a.Spent.Tokens, *p.Limit.Tokens)
			}
		}
	}
}

// What would fit once others have ended waits for them, and is refused only if it does not fit then either.
func TestWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := of(budget.Group, "g", usd(5))
		b := budget.New(nil, silent)
		first, err := b.Reserve(t.Context(), paid(p), dollars(1000)) // 1 + 2 for the answer
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 2)
		go func() {
			h, err := b.Reserve(t.Context(), paid(p), dollars(1000))
			h.Release()
			got <- err
		}()
		synctest.Wait()
		select {
		case err := <-got:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
		first.Settle(used(1000, 500)) // 1.50: there is room now
		if err := <-got; err != nil {
			t.Errorf("after the others had ended: %v", err)
		}
		second, err := b.Reserve(t.Context(), paid(p), dollars(1000))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := b.Reserve(t.Context(), paid(p), dollars(2900))
			got <- err
		}()
		go func() {
			_, err := b.Reserve(ctx, paid(p), dollars(2900))
			got <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("who leaves: %v", err)
		}
		second.Settle(used(1000, 900))
		if err := <-got; err == nil || !strings.Contains(err.Error(), "used up") {
			t.Errorf("nothing is left, and it is not refused: %v", err)
		}
	})
}

// A limit that is raised lets pass who waits or comes, one that is lowered stops them.
func TestChangedLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := usd(3)
		var mu sync.Mutex
		payers := func() ([]budget.Payer, error) {
			mu.Lock()
			defer mu.Unlock()
			return []budget.Payer{of(budget.Execution, "exec-001", limit)}, nil
		}
		var told []budget.Crossing
		b := budget.New(nil, func(c budget.Crossing) { told = append(told, c) })
		h, err := b.Reserve(t.Context(), payers, dollars(1000))
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			h, err := b.Reserve(t.Context(), payers, dollars(500))
			h.Release()
			got <- err
		}()
		synctest.Wait()
		mu.Lock()
		limit = usd(9)
		mu.Unlock()
		b.Changed()
		if err := <-got; err != nil {
			t.Errorf("after it was raised: %v", err)
		}
		h.Settle(used(1000, 0))
		mu.Lock()
		limit = usd(0.5)
		mu.Unlock()
		for range 3 {
			if _, err := b.Reserve(t.Context(), payers, dollars(0)); err == nil {
				t.Error("after it was lowered below what is spent it lets pass")
			}
		}
		if len(told) != 1 || told[0].Level != budget.Over {
			t.Errorf("told %+v, want once that it is used up", told)
		}
		if all, _ := payers(); !stops(b, all...) {
			t.Error("it stops nothing")
		}
		mu.Lock()
		limit = thread.Budget{}
		mu.Unlock()
		if all, _ := payers(); stops(b, all...) {
			t.Error("it stops what has no limit any more")
		}
	})
}

// A request that is too large for what is left is refused alone, as long as others still fit: it tells nobody and stops
// nothing. What does not fit though it is as they usually are uses the budget up.
func TestTooLargeAlone(t *testing.T) {
	var told []budget.Crossing
	b := budget.New(nil, func(c budget.Crossing) { told = append(told, c) })
	p := of(budget.Project, "", usd(10))
	p.Scope, p.Name = budget.All(), "project"
	ask := func(cost float64) error { // at a dollar for 1000 tokens
		h, err := b.Reserve(t.Context(), paid(p), budget.Ask{
			Main: true, Input: int64(1000 * cost), Cost: func(int64) (float64, bool) { return cost, true },
		})
		h.Settle(thread.Usage{Input: 1000, CostUSD: cost, Priced: true})
		return err
	}
	alone := func(cost float64, want bool) {
		t.Helper()
		var r *budget.Refusal
		if err := ask(cost); !errors.As(err, &r) || r.Alone != want || strings.Contains(r.Error(), "used up") == want {
			t.Errorf("%v, alone: want %v", err, want)
		}
		if stops := stops(b, p); stops == want || (len(told) == 0) != want {
			t.Errorf("it stops all: %v; told %+v", stops, told)
		}
	}
	alone(1e6, true) // of no other request is anything known
	for range 12 {
		if err := ask(0.5); err != nil {
			t.Fatal(err)
		}
	}
	alone(5, true)
	alone(1e6, true)
	h, _ := b.Reserve(t.Context(), paid(p), budget.Ask{Main: true, Cost: func(int64) (float64, bool) { return 1, true }})
	h.Settle(thread.Usage{Input: 1000, CostUSD: 3.8, Priced: true}) // 98 % by now
	if told = nil; ask(0.3) == nil {
		t.Error("it has 0.20 left")
	}
	if stops := stops(b, p); !stops || len(told) != 1 || told[0].Level != budget.Over {
		t.Errorf("nothing usual fits: %v, told %+v", stops, told)
	}
}

// A payer has its own level of the first warning, above that of the alarm too; what is no part is none.
func TestOwnWarning(t *testing.T) {
	for at, want := range map[float64][]budget.Level{
		0.5: {budget.Warned, budget.Alarm, budget.Over}, 0.95: {budget.Alarm, budget.Over}, 0: {budget.Warned, budget.Alarm, budget.Over},
		1: {budget.Warned, budget.Alarm, budget.Over}, -3: {budget.Warned, budget.Alarm, budget.Over}, math.NaN(): {budget.Warned, budget.Alarm, budget.Over},
	} {
		var told []budget.Level
		var first budget.Spent
		b := budget.New(nil, func(c budget.Crossing) {
			if told = append(told, c.Level); len(told) == 1 {
				first = c.Spent
			}
		})
		p := of(budget.Session, "s", usd(100))
		p.WarnAt = at
		for range 101 {
			if h, err := b.Reserve(t.Context(), paid(p), budget.Ask{Cost: func(int64) (float64, bool) { return 0.001, true }}); err == nil {
				h.Settle(thread.Usage{Input: 1, CostUSD: 1, Priced: true})
			}
		}
		from := 75.0
		if at > 0 && at < 1 {
			from = at * 100
		}
		if len(told) != len(want) || first.USD < from || first.USD > from+1.01 {
			t.Errorf("at %v: told %v, first at %v", at, told, first.USD)
		}
	}
}

func TestLevels(t *testing.T) {
	var told []budget.Level
	b := budget.New(nil, func(c budget.Crossing) { told = append(told, c.Level) })
	p := of(budget.Thread, "t", usd(100))
	spend := func(usd float64) {
		h, err := b.Reserve(t.Context(), paid(p), budget.Ask{Cost: func(int64) (float64, bool) { return 0.001, true }})
		if err != nil {
			return
		}
		h.Settle(thread.Usage{Input: 1, CostUSD: usd, Priced: true})
	}
	for range 120 {
		spend(1)
	}
	if len(told) != 3 || told[0] != budget.Warned || told[1] != budget.Alarm || told[2] != budget.Over {
		t.Fatalf("told %v", told)
	}
	p.Limit = usd(130) // 100 of 130: it is warned of again
	spend(1)
	spend(1)
	if len(told) != 4 || told[3] != budget.Warned {
		t.Errorf("after it was raised: told %v", told)
	}
}

// What a provider says may be anything: what is spent never shrinks and never overflows, and what is unknown is counted so.
func TestOddUsage(t *testing.T) {
	for name, u := range map[string]thread.Usage{
		"nothing":   {},
		"negative":  {Input: -5, Output: 10, CostUSD: 1, Priced: true},
		"absurd":    {Input: 1e18, Output: 1e18, Priced: true, CostUSD: 1e13},
		"NaN":       {Input: 5, Priced: true, CostUSD: math.NaN()},
		"infinite":  {Input: 5, Priced: true, CostUSD: math.Inf(1)},
		"unpriced":  {Input: 5, Output: 1},
		"pays back": {Input: 5, CostUSD: -3, Priced: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := budget.New(nil, silent)
			p := of(budget.Thread, "t", thread.Budget{})
			var last budget.Spent
			for range 50 {
				h, err := b.Reserve(t.Context(), paid(p), dollars(100))
				if err != nil {
					t.Fatal(err)
				}
				h.Settle(u)
				h.Settle(u) // once only
				a := account(b, p).Spent
				if a.Tokens <= last.Tokens || !(a.USD > last.USD) || math.IsInf(a.USD, 0) || a.Unknown != last.Unknown+1 || a.Answers != last.Answers+1 {
					t.Fatalf("%+v after %+v", a, last)
				}
				last = a
			}
			if !strings.HasSuffix(last.Money(), "?") {
				t.Errorf("it is shown as %q", last.Money())
			}
		})
	}
}

func TestUsualAnswer(t *testing.T) {
	b := budget.New(nil, silent)
	p := of(budget.Thread, "t", thread.Budget{})
	want := func(main bool) int64 {
		h, err := b.Reserve(t.Context(), paid(p), budget.Ask{Model: "m", Main: main})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Release()
		return h.Want().Tokens
	}
	answer := func(n int64) {
		h, _ := b.Reserve(t.Context(), paid(p), budget.Ask{Model: "m", Main: true})
		h.Settle(used(1, n))
	}
	if n := want(true); n != 2000 {
		t.Errorf("nothing is known: %d", n)
	}
	answer(3000)
	if n := want(true); n != 3000 {
		t.Errorf("after one: %d", n)
	}
	for n := range int64(100) {
		answer(n + 1)
	}
	if n := want(true); n < 90 || n > 97 {
		t.Errorf("after answers of 37 to 100 tokens: %d", n)
	}
	if n := want(false); n != 2000 {
		t.Errorf("beside the conversation: %d", n)
	}
}

// What was spent before is read once a scope, however many begin at once.
func TestBefore(t *testing.T) {
	var mu sync.Mutex
	read := map[budget.Scope]int{}
	b := budget.New(func(s budget.Scope) (budget.Spent, error) {
		mu.Lock()
		defer mu.Unlock()
		read[s]++
		return budget.Spent{Amount: budget.Amount{USD: 2}}, nil
	}, silent)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			h, err := b.Reserve(t.Context(), paid(of(budget.Thread, "t", usd(100)), project), dollars(1000))
			if err == nil {
				h.Settle(used(1000, 0))
			}
		})
	}
	all.Wait()
	for _, p := range []budget.Payer{of(budget.Thread, "t", usd(100)), project} {
		if a := account(b, p); read[p.Scope] != 1 || math.Abs(a.Spent.USD-10) > 1e-9 {
			t.Errorf("%+v, read %d times", a, read[p.Scope])
		}
	}
}

// What must be summed up is read once a scope, before the first limit of it holds, and adds to what was counted meanwhile.
func TestSumsAreReadLate(t *testing.T) {
	var mu sync.Mutex
	read := map[budget.Scope]int{}
	b := budget.New(func(budget.Scope) (budget.Spent, error) { return budget.Spent{Amount: budget.Amount{USD: 1}}, nil }, silent)
	b.Sums(func(s budget.Scope) (budget.Spent, error) {
		mu.Lock()
		defer mu.Unlock()
		read[s]++
		return budget.Spent{Amount: budget.Amount{USD: 50}}, nil
	})
	free, limited := of(budget.Group, "g", thread.Budget{}), of(budget.Group, "g", usd(60))
	spend := func(p budget.Payer) {
		if h, err := b.Reserve(t.Context(), paid(p, project), dollars(0)); err == nil {
			h.Settle(used(1000, 0))
		}
	}
	spend(free)
	if len(read) != 0 {
		t.Errorf("without a limit it reads %v", read)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { spend(limited) })
		all.Go(func() { spend(free) })
	}
	all.Wait()
	spend(limited)
	if len(read) != 1 || read[limited.Scope] != 1 {
		t.Errorf("read %v", read)
	}
	if a := account(b, limited); a.Spent.USD < 60 || a.Level != budget.Over {
		t.Errorf("%+v", a)
	}
	if _, err := b.Reserve(t.Context(), paid(limited, project), dollars(0)); err == nil {
		t.Error("what was spent before does not count")
	}
	if s, known := b.Opened(limited.Scope); !known || s.USD != 1 {
		t.Errorf("opened with %+v", s)
	}
	before := account(b, of(budget.Group, "other", thread.Budget{})) // a report has all of it
	if before.Spent.USD != 51 {
		t.Errorf("reported %+v", before)
	}
}

// What cannot be read is not taken for nothing: with a limit a request waits, and is refused if that lasts; it is read
// again, and then counts. Without one it passes.
func TestUnreadIsNotNothing(t *testing.T) {
	for name, late := range map[string]bool{"before": false, "sums": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				away := errors.New("the store is away")
				var back atomic.Bool
				read := func() (budget.Spent, error) {
					if !back.Load() {
						return budget.Spent{}, away
					}
					return budget.Spent{Amount: budget.Amount{USD: 10}}, nil
				}
				none := func() (budget.Spent, error) { return budget.Spent{}, nil }
				before, sum := read, none
				if late {
					before, sum = none, read
				}
				b := budget.New(func(budget.Scope) (budget.Spent, error) { return before() }, silent)
				b.Sums(func(budget.Scope) (budget.Spent, error) { return sum() })
				free, limited := of(budget.Group, "free", thread.Budget{}), of(budget.Group, "g", usd(10))
				h, err := b.Reserve(t.Context(), paid(free), dollars(0))
				if err != nil {
					t.Fatalf("without a limit: %v", err)
				}
				h.Settle(used(10, 0))
				if _, err := b.Reserve(t.Context(), paid(limited, free), dollars(0)); !errors.Is(err, away) {
					t.Errorf("with one: %v", err)
				}
				if _, _, err := b.Stops([]budget.Payer{limited}); !errors.Is(err, away) {
					t.Errorf("what waits: %v", err)
				}
				if _, err := b.Account(limited); !errors.Is(err, away) {
					t.Errorf("a report: %v", err)
				}
				got := make(chan error, 1)
				go func() {
					_, err := b.Reserve(t.Context(), paid(limited), dollars(0))
					got <- err
				}()
				synctest.Wait()
				back.Store(true)
				var r *budget.Refusal
				if err := <-got; !errors.As(err, &r) || r.Spent.USD != 10 {
					t.Errorf("once it can be read: %v", err)
				}
				if !stops(b, limited) {
					t.Error("it stops nothing")
				}
			})
		})
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"2.50usd": "$2.50", "$2.50": "$2.50", "2.5 USD": "$2.50", "$0": "$0.00", "200k": "200k tokens", "1.5M": "1.5M tokens",
		"200000": "200k tokens", "0": "0 tokens", "$1,200k": "$1.00, 200k tokens", "200k tokens, 1usd": "$1.00, 200k tokens",
		"": "!", "$": "!", "usd": "!", "-1usd": "!", "$-1": "!", "1e9": "!", "NaN": "!", "Inf": "!", "$1usd": "!", "1,2": "!", "$1,$2": "!",
		"k": "!", "1kk": "!", "1.2.3": "!", "99999999999999999": "!", "$99999999999": "!", "2 euro": "!",
	} {
		b, err := budget.Parse(text)
		got := budget.Format(b)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
	}
}
