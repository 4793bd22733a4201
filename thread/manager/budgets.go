package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// Budgets has the use cases of budgets, and says for each model request what pays for it: it implements the gateway's
// Budget.
type Budgets struct {
	cfg      *Config
	work     *work
	notices  *notices
	registry *registry
	open     *openRuns
	books    *budget.Books
	past     *pastRuns
	pay      *payers
	sessions *workSessions

	again   atomic.Bool // the queue looks again soon
	writing sync.Mutex  // held while the limits are stored; taken before mu
	mu      sync.Mutex  // guards limits and fresh
	limits  budget.Limits
	fresh   map[thread.ID]bool // threads that this server has made: they have asked for nothing before
}

// budgetsSetting is where the limits that people have set are stored.
const budgetsSetting = "budgets"

func newBudgets(cfg *Config, work *work, notices *notices, r *registry, open *openRuns, s *workSessions) *Budgets {
	m := &Budgets{cfg: cfg, work: work, notices: notices, registry: r, open: open, sessions: s, fresh: map[thread.ID]bool{}}
	m.books = budget.New(m.before, m.crossed)
	m.books.Sums(m.sum)
	m.pay = &payers{cfg: cfg, work: work, registry: r, open: open, known: m.known, sessions: s}
	m.past = &pastRuns{cfg: cfg, work: work, pay: m.pay, books: m.books}
	return m
}

// load reads what people have set.
func (m *Budgets) load(ctx context.Context) error {
	text, err := m.cfg.Store.Setting(ctx, budgetsSetting)
	if err != nil || text == "" {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := json.Unmarshal([]byte(text), &m.limits); err != nil {
		return fmt.Errorf("read the budgets: %w", err) // a limit that is forgotten would let everything pass
	}
	m.books.Recall(m.limits.Told)
	return nil
}

// change stores other limits.
func (m *Budgets) change(ctx context.Context, next func(budget.Limits) budget.Limits) error {
	return m.try(ctx, func(l budget.Limits) (budget.Limits, error) { return next(l), nil })
}

// try stores other limits, if what makes them of those that hold has no error, which it returns.
func (m *Budgets) try(ctx context.Context, next func(budget.Limits) (budget.Limits, error)) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	limits, err := next(m.known())
	if err != nil {
		return err
	}
	text, err := json.Marshal(limits)
	if err == nil {
		err = m.cfg.Store.SetSetting(ctx, budgetsSetting, string(text))
	}
	if err != nil {
		return fmt.Errorf("store the budgets: %w", err)
	}
	m.mu.Lock()
	m.limits = limits
	m.mu.Unlock()
	m.books.Changed()
	m.open.look()
	return nil
}

// known returns the limits as they are; they are replaced, never changed.
func (m *Budgets) known() budget.Limits {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits
}

// Reserve implements the gateway's Budget.
func (m *Budgets) Reserve(ctx context.Context, id thread.ID, ask budget.Ask) (*budget.Hold, error) {
	if l := m.registry.loaded(id); l != nil && ask.Main {
		if err := holdAtBound(ctx, l); err != nil {
			return nil, err
		}
	}
	h, err := m.books.Reserve(ctx, func() ([]budget.Payer, error) { return m.pay.now(id) }, ask)
	var r *budget.Refusal
	if errors.As(err, &r) { // a run goes on with nothing else; others do, unless the scope is used up
		if x, works := m.open.holding(id); works {
			m.stop(x, r.Error())
		}
	}
	return h, err
}

// Stops implements the gateway's Budget.
func (m *Budgets) Stops(id thread.ID) error {
	payers, err := m.pay.now(id)
	if err != nil {
		return budget.Unread(err)
	}
	a, stops, err := m.books.Stops(payers)
	if stops {
		return thread.Kindf(thread.ErrRefused, "%s", budget.UsedUp(a))
	}
	return err
}

// before returns what a scope had spent before this server, as far as there is a sum of it.
func (m *Budgets) before(s budget.Scope) (spent budget.Spent, err error) {
	switch s.Kind {
	case budget.Thread, budget.Project:
		if m.cfg.Budget.Spent != nil {
			spent, err = m.cfg.Budget.Spent(s)
		}
	case budget.Execution:
		var x exec.Execution
		x, err = m.pay.execution(exec.ID(s.ID))
		spent = spentBy(x.Usage)
	default:
	}
	return spent, err
}

// sum returns what a scope had spent before this server that there is no sum of: all of a group or a work session, and what an
// execution or a thread has asked for. Only for what may have some are all executions read.
func (m *Budgets) sum(s budget.Scope) (budget.Spent, error) {
	switch s.Kind {
	case budget.Group, budget.Session:
	case budget.Execution:
		x, err := m.pay.execution(exec.ID(s.ID))
		if err != nil || x.Attempt == 0 || x.Attempt == 1 && x.Server == m.cfg.Runs.Server { // no earlier server had it at work
			return budget.Spent{}, err
		}
	case budget.Thread:
		m.mu.Lock()
		fresh := m.fresh[thread.ID(s.ID)]
		m.mu.Unlock()
		if fresh {
			return budget.Spent{}, nil
		}
	default:
		return budget.Spent{}, nil
	}
	return m.past.of(s)
}

// crossed tells people of a level, once for each limit also over restarts, and ends what runs in a scope whose budget is
// used up. It is called where requests begin and end.
func (m *Budgets) crossed(c budget.Crossing) {
	told := budget.Told{Scope: c.Scope, Limit: c.Limit, Level: c.Level}
	if c.Level > budget.Fine && c.Scope.Kind != budget.Execution {
		m.background(func(ctx context.Context) {
			if err := m.change(ctx, func(l budget.Limits) budget.Limits { return l.Telling(told) }); err != nil {
				m.cfg.Log.Warn("store that a budget was told of", "err", err)
			}
		})
	}
	m.notices.tell(m.about(c.Scope), thread.Notice{Level: thread.LevelWarn, Text: c.Says(), Kind: thread.HappenedBudget})
	if c.Level >= budget.Over {
		m.end(c)
	}
	m.open.look()
}

// background does something that whoever asks need not wait for.
func (m *Budgets) background(do func(ctx context.Context)) {
	if !m.work.begin() {
		return
	}
	go func() {
		defer m.work.done()
		do(m.work.ctx)
	}()
}

// about returns the thread that a scope is about, "" for several.
func (m *Budgets) about(s budget.Scope) thread.ID {
	switch s.Kind {
	case budget.Thread:
		return thread.ID(s.ID)
	case budget.Execution:
		x, _ := m.open.of(exec.ID(s.ID))
		return x.Thread
	default:
		return ""
	}
}

// end ends the executions that run in a scope. When it returns that is stored; their processes are being ended. Agents in
// terminals go on: only their requests are refused.
func (m *Budgets) end(c budget.Crossing) {
	why := c.Says()
	var ending []exec.Execution // found before one of them ends: what has ended pays for nothing more
	for _, x := range m.open.list() {
		if !x.State.Holds() {
			continue
		}
		payers, err := m.pay.of(x) // one whose payers are not known now is refused its next request
		if err == nil && slices.ContainsFunc(payers, func(p budget.Payer) bool { return p.Scope == c.Scope }) {
			ending = append(ending, x)
		}
	}
	for _, x := range ending {
		m.stop(x, why)
	}
}

// stop ends an execution that runs.
func (m *Budgets) stop(x exec.Execution, why string) {
	l := m.registry.run(x.Thread)
	if l == nil {
		return
	}
	a := attemptOf(l)
	if a == nil || a.id != x.ID {
		return
	}
	_, err := a.decide(m.work.ctx, verdict{state: exec.Failed, cause: exec.CauseBudget, reason: why})
	if errors.Is(err, errOver) {
		return
	}
	if err != nil { // it is stored with the end of its process
		m.cfg.Log.Error("end a run whose budget is used up", "execution", x.Name, "err", err)
	}
	m.background(func(ctx context.Context) { kill(ctx, l, a) })
}

// asking reports whether a request of an execution has not ended.
func (m *Budgets) asking(id exec.ID) bool {
	return m.books.InFlight(budget.Scope{Kind: budget.Execution, ID: string(id)}) > 0
}

// waits returns why a queued execution may not start, "" if its budgets let it.
func (m *Budgets) waits(x exec.Execution) string {
	if m.pay.around(x.Thread) {
		if p, limited, err := m.pay.limited(x); err == nil && limited {
			return reason(uncounted(p))
		}
	}
	payers, err := m.pay.of(x)
	if err != nil {
		err = budget.Unread(err)
	} else {
		var a budget.Account
		var stops bool
		if a, stops, err = m.books.Stops(payers); stops {
			return budget.UsedUp(a)
		}
	}
	if err != nil {
		m.lookLater()
		return reason(err)
	}
	return ""
}

// lookLater has the queue look again after a while, once for all that wait for it.
func (m *Budgets) lookLater() {
	if !m.again.CompareAndSwap(false, true) {
		return
	}
	m.background(func(ctx context.Context) {
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
		m.again.Store(false)
		m.open.look()
	})
}

// List returns the project, the groups, and the work sessions, threads and open executions that have a limit.
func (m *Budgets) List(ctx context.Context) (budget.Report, error) {
	limits := m.known()
	payers := append([]budget.Payer{m.pay.project(limits)}, m.sessions.payers(ctx)...)
	groups := map[string]bool{}
	for name := range limits.Groups {
		groups[name] = true
	}
	var runs []budget.Payer
	for _, x := range m.open.list() {
		if x.Group != "" {
			groups[x.Group] = true
		}
		if x.Budget.Set() {
			runs = append(runs, budget.Payer{Scope: budget.Scope{Kind: budget.Execution, ID: string(x.ID)}, Name: x.Name, Limit: x.Budget})
		}
	}
	for name := range groups {
		s := budget.Scope{Kind: budget.Group, ID: name}
		payers = append(payers, budget.Payer{Scope: s, Name: budget.GroupPrefix + name, Limit: limits.Of(s)})
	}
	for _, l := range m.registry.index.all() {
		if t := l.thread(); t.UsedNow() != thread.AtRest || limits.Threads[t.ID].Set() {
			if p := m.pay.thread(limits, t.ID); p.Limit.Set() {
				payers = append(payers, p)
			}
		}
	}
	payers = append(payers, runs...)
	r := budget.Report{Accounts: []budget.Account{}}
	for _, p := range payers {
		a, err := m.books.Account(p)
		if err != nil {
			return r, fmt.Errorf("budget: %w", err)
		}
		r.Accounts = append(r.Accounts, a)
	}
	slices.SortStableFunc(r.Accounts, budget.Account.Compare)
	return r, nil
}

// Set changes the budget of a scope. It holds from the next request on, and what waited for it goes on.
func (m *Budgets) Set(ctx context.Context, c budget.Change) (budget.Account, error) {
	p, x, err := m.find(ctx, c.Scope)
	if err != nil {
		return budget.Account{}, fmt.Errorf("budget: %w", err)
	}
	at := x.Thread
	if p.Scope.Kind == budget.Thread {
		at = thread.ID(p.Scope.ID)
	}
	if (c.USD != nil || c.Tokens != nil) && m.pay.around(at) {
		return budget.Account{}, uncounted(p)
	}
	var next thread.Budget
	var wrong error
	if p.Scope.Kind == budget.Execution {
		change := m.open.change
		if x.State.Final() {
			change = m.open.amend
		}
		_, err = change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
			next, wrong = c.Next(x.Budget)
			x.Budget = next
			return wrong
		})
		m.books.Changed()
	} else if p.Scope.Kind == budget.Session {
		err = m.sessions.change(ctx, p.Scope.ID, func(s *exec.Session) error {
			next, wrong = c.Next(s.Budget)
			s.Budget = next
			return wrong
		})
		m.sessions.changed()
	} else {
		err = m.try(ctx, func(l budget.Limits) (budget.Limits, error) {
			next, wrong = c.Next(l.Of(p.Scope)) // of the limits that are replaced: another change may have come before
			return l.With(p.Scope, next), wrong
		})
	}
	switch {
	case wrong != nil:
		return budget.Account{}, wrong
	case err != nil:
		return budget.Account{}, fmt.Errorf("budget of %s: %w", p.Name, err)
	}
	limits := m.known()
	switch p.Scope.Kind {
	case budget.Project:
		p = m.pay.project(limits)
	case budget.Thread:
		p = m.pay.thread(limits, thread.ID(p.Scope.ID))
	default:
		p.Limit = next
	}
	a, err := m.books.Account(p)
	if err != nil {
		return a, fmt.Errorf("the budget of %s is set: %w", p.Name, err)
	}
	return a, nil
}

// find finds a scope by what people call it.
func (m *Budgets) find(ctx context.Context, name string) (budget.Payer, exec.Execution, error) {
	if group, ok := strings.CutPrefix(name, budget.GroupPrefix); ok {
		return budget.Payer{Scope: budget.Scope{Kind: budget.Group, ID: group}, Name: name}, exec.Execution{}, budget.CheckGroup(group)
	}
	if session, ok := strings.CutPrefix(name, budget.SessionPrefix); ok {
		p, err := m.sessions.payer(ctx, session)
		if err == nil {
			_, err = m.sessions.of(ctx, session)
		}
		return p, exec.Execution{}, err
	}
	if name == "project" {
		return budget.Payer{Scope: budget.All(), Name: name}, exec.Execution{}, nil
	}
	if l, err := m.registry.find(name); err == nil {
		t := l.live.thread()
		return budget.Payer{Scope: budget.Scope{Kind: budget.Thread, ID: string(t.ID)}, Name: t.Name}, exec.Execution{}, nil
	}
	if m.cfg.Runs.Store != nil {
		if x, err := m.cfg.Runs.Store.Execution(ctx, name); err == nil {
			if x.State == exec.Completed || x.State == exec.Cancelled { // of the others there may be another attempt
				return budget.Payer{}, x, thread.Hint(thread.Kindf(thread.ErrNotRunning, "%s has ended", x.Name),
					"set the budget of its thread or group")
			}
			return budget.Payer{Scope: budget.Scope{Kind: budget.Execution, ID: string(x.ID)}, Name: x.Name}, x, nil
		}
	}
	return budget.Payer{}, exec.Execution{}, thread.Hint(
		thread.Kindf(thread.ErrNotFound, "no thread or run is called %q", thread.Excerpt(name)),
		"`orchestrator budget` lists them; groups are written group:NAME, work sessions session:NAME, all of it is project")
}

// begin stores the budget of a new thread, and whose agent starts it, before there is one: a budget that comes later might
// come too late.
func (m *Budgets) begin(ctx context.Context, t thread.Thread, b thread.Budget, by thread.ID) error {
	if t.Launch.NoGateway && b.Set() {
		return thread.Hint(thread.Kindf(thread.ErrUnsupported, "a budget without the gateway: nobody would count what is spent"),
			"start it without --no-gateway, or without --budget")
	}
	if t.Launch.NoGateway {
		above, _ := m.open.holding(by)
		p, limited, err := m.pay.limited(exec.Execution{ID: "new", Thread: t.ID, Group: t.Once.Group, Session: t.Once.Session, By: by, Within: above.ID})
		switch {
		case err != nil:
			return budget.Unread(err)
		case limited && (t.Once.On || by != ""):
			return uncounted(p)
		case limited:
			m.notices.tell("", thread.Notice{
				Level: thread.LevelWarn, Kind: thread.HappenedBudget, Text: uncounted(p).Error() + ". " + t.Name + " is started nevertheless",
			})
		}
	}
	m.mu.Lock()
	m.fresh[t.ID] = true
	m.mu.Unlock()
	if t.Once.On || !b.Set() && by == "" {
		return nil
	}
	if by != "" && b.Set() { // no agent gives more than what holds for its own thread
		b = budget.Least(b, m.cfg.Budget.Thread)
	}
	return m.change(ctx, func(l budget.Limits) budget.Limits {
		return l.With(budget.Scope{Kind: budget.Thread, ID: string(t.ID)}, b).StartedBy(t.ID, by)
	})
}

// Forget lets go of a thread that is removed for good.
func (m *Budgets) Forget(id thread.ID) {
	m.books.Forget(budget.Scope{Kind: budget.Thread, ID: string(id)})
	m.mu.Lock()
	delete(m.fresh, id)
	m.mu.Unlock()
	if l := m.known(); !l.Threads[id].Set() && l.By[id] == "" {
		return
	}
	m.background(func(ctx context.Context) {
		if err := m.change(ctx, func(l budget.Limits) budget.Limits { return l.Without(id) }); err != nil {
			m.cfg.Log.Warn("forget the budget of a thread", "err", err)
		}
	})
}
