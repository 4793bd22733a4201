package budget

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
)

// Books knows what the scopes have spent, and what is held back for requests in flight. It is safe for concurrent use.
type Books struct {
	before func(Scope) (Spent, error)
	sum    func(Scope) (Spent, error)
	tell   func(Crossing)
	usual  usual

	loading sync.Mutex // held while what was spent before is read; taken before mu
	failed  time.Time  // when that could not be read the last time; guarded by loading

	mu       sync.Mutex // guards all below; held for moments
	accounts map[Scope]*account
	recalled map[Scope]Told
	freed    chan struct{} // closed when something comes back, or a limit has changed
}

// account is what is known of one scope.
type account struct {
	payer    Payer // as it was when it was last looked at
	opened   Spent // what was spent before
	spent    Spent
	summed   bool // spent has what had to be summed up
	held     Amount
	inFlight int
	usual    typical
	// told is the highest level that was told, for the limit toldFor, and unpriced is set once it was told that it cannot be
	// kept.
	told     Level
	toldFor  thread.Budget
	unpriced bool
}

// Sums has what is costly to find out read late: sum returns what a scope had spent before these books were opened beyond
// what New's before says. It is called once for each, before the first request that a limit of it holds for is let pass, or
// before it is reported; so it must leave out what these books have counted. Sums is called before anything else.
func (b *Books) Sums(sum func(Scope) (Spent, error)) { b.sum = sum }

// Opened returns what a scope had spent when its account was opened, false if there is none.
func (b *Books) Opened(s Scope) (Spent, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.accounts[s]; a != nil {
		return a.opened, true
	}
	return Spent{}, false
}

// New returns books in which nothing is held back. before returns what a scope had spent before these books were opened:
// it is called once for each, before a request of it is let pass, and again if it fails. tell is called when a limit comes near, or is reached.
func New(before func(Scope) (Spent, error), tell func(Crossing)) *Books {
	return &Books{before: before, tell: tell, accounts: map[Scope]*account{}, recalled: map[Scope]Told{}, freed: make(chan struct{})}
}

// Crossing is that a scope has come to a level; of one that is Fine, the price of a model is unknown, so that its limit in
// USD does not hold for it.
type Crossing struct {
	Payer
	Level Level
	Spent Spent
	// Refused is set if a request did not fit, and was the reason.
	Refused *Refusal
	Model   string
}

// Ask is a request that is about to be sent.
type Ask struct {
	Model string
	Main  bool // of the conversation, not beside it
	// Input is how many tokens it has. Cost returns what it costs in USD with an answer of so many tokens, false if that is
	// not known; Why then says why, for people.
	Input int64
	Cost  func(output int64) (usd float64, known bool)
	Why   string
	// Unread is set if it has a format that nobody reads: no more than its size is known. It is held back for only where
	// there is a limit.
	Unread bool
}

// Reserve holds back what a request likely uses in all scopes that pay for it, or in none. While what it would take is
// held back for others, it waits, and for a while also if what a scope with a limit has spent before cannot be read. The
// error is a *Refusal, what is in the way of reading, or that of ctx. payers returns the scopes, the narrowest first, with
// their limits as they are; it is called again after each wait.
func (b *Books) Reserve(ctx context.Context, payers func() ([]Payer, error), ask Ask) (*Hold, error) {
	output := b.usual.expect(ask.Model, ask.Main)
	if ask.Unread {
		output = leastAnswer
	}
	want, known := Amount{Tokens: add(max(0, ask.Input), output)}, false
	if ask.Cost != nil {
		if usd, ok := ask.Cost(output); ok && usd >= 0 && usd <= mostUSD {
			want.USD, known = usd, true
		}
	}
	var unread patience
	for {
		all, err := payers()
		if err == nil && ask.Unread && !slices.ContainsFunc(all, func(p Payer) bool { return p.Limit.Set() }) {
			return nil, nil
		}
		if err == nil {
			err = b.open(all, false)
		}
		if err != nil {
			if err := unread.wait(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		h, wait, refusal, crossings := b.decide(all, ask, want, known)
		for _, c := range crossings {
			b.tell(c)
		}
		switch {
		case refusal != nil:
			return nil, refusal
		case h != nil:
			return h, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

const (
	// readAgain is after how long what was spent before is read again if that has failed, and readLimit how long a request
	// waits for it.
	readAgain = time.Second
	readLimit = 20 * time.Second
)

// patience is how long a request has waited because what was spent is not known.
type patience struct{ since time.Time }

// wait waits before the next attempt, or returns why there is none.
func (p *patience) wait(ctx context.Context, err error) error {
	if p.since.IsZero() {
		p.since = time.Now()
	} else if time.Since(p.since) >= readLimit {
		return Unread(err)
	}
	t := time.NewTimer(readAgain)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// decide is the one step that checks and holds back.
func (b *Books) decide(all []Payer, ask Ask, want Amount, known bool) (
	h *Hold, wait <-chan struct{}, refusal *Refusal, crossings []Crossing,
) {
	b.mu.Lock()
	defer b.mu.Unlock()
	full := false
	for _, p := range all {
		if b.accounts[p.Scope] == nil && !p.Limit.Set() {
			continue // what it has spent is not known, and nothing depends on it
		}
		a := b.account(p)
		after := a.spent.plus(want)
		switch {
		case usedUp(p.Limit, a.spent.Amount), exceeds(p.Limit, after):
			refusal = &Refusal{Payer: p, Spent: a.spent, Want: want}
			if refusal.Alone = !usedUp(p.Limit, a.spent.Amount) && !exceeds(p.Limit, a.spent.plus(a.usual.small(want))); refusal.Alone {
				return nil, nil, refusal, crossings
			}
			if a.reaches(Over) {
				crossings = append(crossings, Crossing{Payer: p, Level: Over, Spent: a.spent, Refused: refusal})
			}
			return nil, nil, refusal, crossings
		case p.Limit.USD != nil && !known && p.Scope.explicit() && !ask.Unread:
			return nil, nil, &Refusal{Payer: p, Spent: a.spent, Want: want, Unpriced: true, Model: ask.Model, Why: ask.Why}, crossings
		case exceeds(p.Limit, after.plus(a.held)):
			full = true
		}
	}
	if full {
		return nil, b.freed, nil, crossings
	}
	h = &Hold{books: b, ask: ask, want: want, known: known, scopes: make([]Scope, 0, len(all))}
	for _, p := range all {
		a := b.accounts[p.Scope]
		if a == nil {
			continue
		}
		a.held, a.inFlight = a.held.plus(want), a.inFlight+1
		h.scopes = append(h.scopes, p.Scope)
		if p.Limit.USD != nil && !known && !a.unpriced {
			a.unpriced = true
			crossings = append(crossings, Crossing{Payer: p, Spent: a.spent, Model: ask.Model})
		}
	}
	return h, nil, nil, crossings
}

// open makes the accounts that there are not yet, with what was spent before: all of it if they are reported or have a
// limit. One that cannot be read and has no limit is left out: what it spends meanwhile is read later. The error is that of
// one that has.
func (b *Books) open(all []Payer, reported bool) error {
	for _, p := range all {
		whole := b.sum != nil && (reported || p.Limit.Set())
		ready := func() (opened, ready bool) {
			b.mu.Lock()
			defer b.mu.Unlock()
			a := b.accounts[p.Scope]
			return a != nil, a != nil && (a.summed || !whole)
		}
		if _, ok := ready(); ok {
			continue
		}
		if err := b.read(p.Scope, ready, whole, reported || p.Limit.Set()); err != nil {
			return err
		}
	}
	return nil
}

// read has a scope's account have what was spent before. What is not needed is not tried again and again while it fails.
func (b *Books) read(s Scope, ready func() (opened, ready bool), whole, needed bool) error {
	b.loading.Lock()
	defer b.loading.Unlock()
	opened, ok := ready()
	if ok || !needed && time.Since(b.failed) < readAgain {
		return nil
	}
	var err error
	if !opened {
		err = b.begin(s)
	}
	if err == nil && whole {
		var sum Spent
		if sum, err = b.sum(s); err == nil {
			b.mu.Lock()
			if a := b.accounts[s]; a != nil { // it may have been forgotten
				a.spent, a.summed = a.spent.Plus(sum), true
			}
			b.mu.Unlock()
		}
	}
	if err != nil {
		b.failed = time.Now()
	}
	if !needed {
		return nil
	}
	return err
}

// begin makes the account of a scope. loading is held.
func (b *Books) begin(s Scope) error {
	a := &account{}
	if b.before != nil {
		var err error
		if a.opened, err = b.before(s); err != nil {
			return err
		}
		a.spent = a.opened
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, known := b.recalled[s]; known {
		a.told, a.toldFor = t.Level, t.Limit
	}
	b.accounts[s] = a
	return nil
}

// account returns that of a payer, with its limit as it is now. mu is held, and open has made it.
func (b *Books) account(p Payer) *account {
	a := b.accounts[p.Scope]
	if a == nil { // forgotten in between: its thread is gone
		a = &account{}
		b.accounts[p.Scope] = a
	}
	changed := !same(a.payer.Limit, p.Limit)
	if a.payer = p; changed {
		b.wake()
	}
	return a
}

// reaches notes that a level was reached, and reports whether that is news for the limit.
func (a *account) reaches(l Level) bool {
	if !same(a.toldFor, a.payer.Limit) {
		a.told, a.toldFor = Fine, a.payer.Limit
	}
	if l <= a.told {
		return false
	}
	a.told = l
	return true
}

// wake has those look again who wait. mu is held.
func (b *Books) wake() {
	close(b.freed)
	b.freed = make(chan struct{})
}

// Changed tells that limits have changed: who waits looks again.
func (b *Books) Changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
}

// Told are the levels that were told, for which limits.
type Told struct {
	Scope Scope         `json:"scope"`
	Limit thread.Budget `json:"limit"`
	Level Level         `json:"level"`
}

// Recall takes over what an earlier server had told.
func (b *Books) Recall(all []Told) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range all {
		b.recalled[t.Scope] = t
	}
}

// Account is what is known of a scope.
type Account struct {
	Payer
	Spent    Spent  `json:"spent"`
	Reserved Amount `json:"reserved"`
	InFlight int    `json:"inFlight,omitempty"`
	Level    Level  `json:"level,omitempty"`
}

// Account returns what is known of a payer. The error is why what it has spent before cannot be read.
func (b *Books) Account(p Payer) (Account, error) {
	if err := b.open([]Payer{p}, true); err != nil {
		return Account{Payer: p}, Unread(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(p)
	return Account{Payer: p, Spent: a.spent, Reserved: a.held, InFlight: a.inFlight, Level: a.level()}, nil
}

// level is how much is used, by what is spent and what was told: a limit under which nothing fits any more is used up.
func (a *account) level() Level {
	if a.told == Over && same(a.toldFor, a.payer.Limit) {
		return Over
	}
	return levelOf(a.payer, a.spent.Amount)
}

// levelOf returns the level of what was spent.
func levelOf(p Payer, a Amount) Level {
	share := Share(p.Limit, a)
	switch {
	case !p.Limit.Set():
		return Fine
	case usedUp(p.Limit, a):
		return Over
	case share >= max(float64(Alarm), p.warnAt()):
		return Alarm
	case share >= p.warnAt():
		return Warned
	default:
		return Fine
	}
}

// InFlight returns how many requests of a scope are held back for.
func (b *Books) InFlight(s Scope) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.accounts[s]; a != nil {
		return a.inFlight
	}
	return 0
}

// Stops returns the first of the payers whose budget is used up, false if none is. The error is why that is not known.
func (b *Books) Stops(all []Payer) (Account, bool, error) {
	for _, p := range all {
		if !p.Limit.Set() {
			continue
		}
		a, err := b.Account(p)
		if err != nil {
			return a, false, err
		}
		if a.Level >= Over {
			return a, true, nil
		}
	}
	return Account{}, false, nil
}

// Expects returns how many tokens a model's answer likely has in a conversation.
func (b *Books) Expects(model string) int64 { return b.usual.expect(model, true) }

// Forget lets go of a scope that is gone for good.
func (b *Books) Forget(s Scope) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.accounts, s)
}

// Hold is what is held back for one request. It ends with Settle or Release, once; a nil one holds nothing.
type Hold struct {
	books  *Books
	ask    Ask
	want   Amount
	known  bool // its price
	scopes []Scope
	over   sync.Once
}

// Want is what is held back.
func (h *Hold) Want() Amount { return h.want }

// Release ends it for a request that has cost nothing: it was not sent, or refused.
func (h *Hold) Release() {
	if h != nil {
		h.over.Do(func() { h.books.settle(h, Spent{}) })
	}
}

// Settle ends it with what the request has used.
func (h *Hold) Settle(u thread.Usage) {
	if h == nil {
		return
	}
	h.over.Do(func() {
		s := Spent{Amount: Amount{Tokens: u.Context(), USD: u.CostUSD}, Answers: 1}
		switch {
		case !u.Sane() || u.Context() == 0: // what was held back is the best that is known
			s.Amount, s.Unknown = h.want, 1
		case !u.Priced:
			s.USD, s.Unknown = h.want.USD, 1
		case u.Unknown > 0: // it broke off
			s.Unknown = 1
		}
		if !(s.USD >= 0 && s.USD <= mostUSD) {
			s.USD, s.Unknown = h.want.USD, 1
		}
		if u.Sane() && u.Output > 0 {
			h.books.usual.learn(h.ask.Model, h.ask.Main, u.Output)
		}
		h.books.settle(h, s)
	})
}

// settle gives back what was held, and adds what was spent.
func (b *Books) settle(h *Hold, s Spent) {
	var crossings []Crossing
	b.mu.Lock()
	for _, scope := range h.scopes {
		a := b.accounts[scope]
		if a == nil {
			continue
		}
		a.held, a.inFlight = a.held.minus(h.want), a.inFlight-1
		if a.inFlight <= 0 { // no rest of rounding
			a.held, a.inFlight = Amount{}, 0
		}
		a.spent = a.spent.Plus(s)
		if h.ask.Main && s.Answers > 0 {
			a.usual.learn(s.Amount)
		}
		a.spent.USD = min(a.spent.USD, math.MaxFloat64)
		if l := levelOf(a.payer, a.spent.Amount); l > Fine && a.reaches(l) {
			crossings = append(crossings, Crossing{Payer: a.payer, Level: l, Spent: a.spent})
		}
	}
	b.wake()
	b.mu.Unlock()
	for _, c := range crossings {
		b.tell(c)
	}
}
