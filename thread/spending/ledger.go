// Package spending keeps the spending by day, agent, model and thread, and the newest rate limits that providers
// reported.
//
// It observes what the gateway carries and stores sums: durable at most a second later, and when it is closed. Unknown
// prices stay unknown. Days are in local time; 400 are kept.
package spending

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
)

// KeptDays is for how many days spending is kept.
const KeptDays = 400

// The other bounds of what is kept.
const (
	maxRows   = 5000 // per day; more rows are summed up without their thread
	maxQuotas = 200
	maxName   = 100
	batch     = time.Second
	retry     = 10 * time.Second
)

// The settings that hold it: an index of days, one document per day, one for the quotas.
const (
	daysKey   = "ledger days"
	dayKey    = "ledger "
	quotasKey = "ledger quotas"
)

const dayForm = "2006-01-02"

// Spent is what one thread spent with one model on one day.
type Spent struct {
	Day    string    `json:"day"`
	Agent  string    `json:"agent,omitempty"`
	Model  string    `json:"model,omitempty"`
	Thread thread.ID `json:"thread,omitempty"` // empty for the sum of the rows above the limit
	// Session is the name of the thread's work session, only in reports by that.
	Session    string `json:"session,omitempty"`
	Answers    int64  `json:"answers"`
	Input      int64  `json:"input"`
	CacheRead  int64  `json:"cacheRead"`
	CacheWrite int64  `json:"cacheWrite"`
	// CacheWriteHour is the part of CacheWrite that the cache keeps for an hour.
	CacheWriteHour int64 `json:"cacheWriteHour,omitempty"`
	Output         int64 `json:"output"`
	// USD is the cost of the answers with a known price, nil if there are none; Unpriced counts the others.
	USD      *float64 `json:"usd,omitempty"`
	Unpriced int64    `json:"unpriced,omitempty"`
	// SavedUSD is what masking saved of it, less what that cost: of the SavedOf answers of which that is known.
	SavedUSD *float64 `json:"savedUSD,omitempty"`
	SavedOf  int64    `json:"savedOf,omitempty"`
}

// add adds another row with the same key.
func (s *Spent) add(o Spent) {
	s.Answers += o.Answers
	s.Input, s.CacheRead = s.Input+o.Input, s.CacheRead+o.CacheRead
	s.CacheWrite, s.CacheWriteHour = s.CacheWrite+o.CacheWrite, s.CacheWriteHour+o.CacheWriteHour
	s.Output += o.Output
	s.Unpriced += o.Unpriced
	s.USD = plus(s.USD, o.USD)
	s.SavedUSD, s.SavedOf = plus(s.SavedUSD, o.SavedUSD), s.SavedOf+o.SavedOf
}

// plus returns the sum of what is known, nil if nothing is.
func plus(a, b *float64) *float64 {
	if b == nil {
		return a
	}
	sum := *b
	if a != nil {
		sum += *a
	}
	return &sum
}

type key struct {
	agent, model string
	thread       thread.ID
}

// day is one day's rows in memory; loaded is set once the stored rows are included.
type day struct {
	loaded bool
	dirty  bool
	rows   map[key]*Spent
}

// Ledger is an Observer in front of another one.
type Ledger struct {
	// Sessions returns the names of the work sessions that threads belong to; nil where there are none. Set before it is used.
	Sessions func() map[thread.ID]string

	thread.Observer
	store thread.Settings
	agent func(thread.ID) string
	log   *slog.Logger
	now   func() time.Time
	wake  chan struct{}
	stop  chan struct{}
	ended chan struct{}

	writing sync.Mutex // one flush at a time; taken before mu

	mu     sync.Mutex // guards all below
	days   map[string]*day
	quotas map[[2]string]thread.Quota
	read   bool // the stored quotas are included
	dirty  bool // the quotas changed
}

// New returns a ledger that passes everything it observes on to next. agent returns the agent of a thread. Stop it with
// Close.
func New(next thread.Observer, store thread.Settings, agent func(thread.ID) string, log *slog.Logger) *Ledger {
	l := &Ledger{
		Observer: next, store: store, agent: agent, log: log, now: time.Now,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
		days: map[string]*day{}, quotas: map[[2]string]thread.Quota{},
	}
	go l.run()
	return l
}

// ExchangeEnded counts a request and passes it on.
func (l *Ledger) ExchangeEnded(id thread.ID, e thread.Exchange) {
	if e.Usage.Context() > 0 || e.Usage.Unknown > 0 || len(e.Quotas) > 0 {
		l.note(id, l.agent(id), e)
	}
	l.Observer.ExchangeEnded(id, e)
}

func (l *Ledger) note(id thread.ID, agent string, e thread.Exchange) {
	l.mu.Lock()
	if u := e.Usage; u.Context() > 0 || u.Unknown > 0 {
		row := Spent{
			Answers: 1, Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWriteHour: u.CacheWriteHour,
			Output: u.Output,
		}
		if u.Priced {
			row.USD, row.SavedUSD, row.SavedOf = &u.CostUSD, &e.SavedUSD, 1
		}
		if !u.Priced || u.Unknown > 0 {
			row.Unpriced = 1
		}
		at := l.now().Format(dayForm)
		d := l.days[at]
		if d == nil {
			d = &day{rows: map[key]*Spent{}}
			l.days[at] = d
		}
		d.add(key{clip(agent), clip(e.Model), id}, at, row)
		d.dirty = true
	}
	for _, q := range e.Quotas {
		q.Thread = id
		l.keep(q)
		l.dirty = true
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// add adds to a row, or to the row for the rest.
func (d *day) add(k key, at string, row Spent) {
	old := d.rows[k]
	if old == nil && len(d.rows) >= maxRows {
		k.thread = ""
		if old = d.rows[k]; old == nil && len(d.rows) >= 2*maxRows {
			k = key{}
			old = d.rows[k]
		}
	}
	if old == nil {
		old = &Spent{Day: at, Agent: k.agent, Model: k.model, Thread: k.thread}
		d.rows[k] = old
	}
	old.add(row)
}

// keep stores a quota unless a newer one is known. mu is held.
func (l *Ledger) keep(q thread.Quota) {
	k := [2]string{q.Upstream, q.Window}
	if old, there := l.quotas[k]; there && old.At.After(q.At) {
		return
	}
	l.quotas[k] = q
	if len(l.quotas) <= maxQuotas {
		return
	}
	oldest := k
	for k, q := range l.quotas {
		if q.At.Before(l.quotas[oldest].At) {
			oldest = k
		}
	}
	delete(l.quotas, oldest)
}

// run stores changes in batches.
func (l *Ledger) run() {
	defer close(l.ended)
	for {
		select {
		case <-l.wake:
		case <-l.stop:
			return
		}
		for wait := batch; ; wait = retry {
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-l.stop:
				t.Stop()
				return
			}
			err := l.Flush(context.Background())
			if err == nil {
				break
			}
			l.log.Warn("store spending; will retry", "err", err)
		}
	}
}

// Close stores the changes and stops the ledger.
func (l *Ledger) Close(ctx context.Context) error {
	close(l.stop)
	<-l.ended
	return l.Flush(ctx)
}

// Flush stores the changes.
func (l *Ledger) Flush(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	var dirty []string
	today := l.now().Format(dayForm)
	for at, d := range l.days {
		switch {
		case d.dirty:
			dirty = append(dirty, at)
		case at != today: // past, and stored
			delete(l.days, at)
		}
	}
	l.mu.Unlock()
	slices.Sort(dirty)
	var errs []error
	for _, at := range dirty {
		errs = append(errs, l.flushDay(ctx, at))
	}
	errs = append(errs, l.flushQuotas(ctx))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("store spending: %w", err)
	}
	return nil
}

// flushDay stores a day. writing is held, mu is not.
func (l *Ledger) flushDay(ctx context.Context, at string) error {
	l.mu.Lock()
	d := l.days[at]
	loaded := d.loaded
	l.mu.Unlock()
	if !loaded {
		rows, err := load[Spent](ctx, l.store, dayKey+at)
		if err == nil {
			err = l.list(ctx, at)
		}
		if err != nil {
			return err
		}
		l.mu.Lock()
		for _, row := range rows {
			d.add(key{row.Agent, row.Model, row.Thread}, at, row)
		}
		d.loaded = true
		l.mu.Unlock()
	}
	l.mu.Lock()
	doc, err := json.Marshal(d.list())
	d.dirty = false
	l.mu.Unlock()
	if err == nil {
		err = l.store.SetSetting(ctx, dayKey+at, string(doc))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		d.dirty = true
	}
	return err
}

// list adds a day to the index and drops those that are too old.
func (l *Ledger) list(ctx context.Context, at string) error {
	days, err := load[string](ctx, l.store, daysKey)
	if err != nil {
		return err
	}
	first := l.now().AddDate(0, 0, -KeptDays).Format(dayForm)
	if !slices.Contains(days, at) {
		days = append(days, at)
	}
	slices.Sort(days)
	for len(days) > 0 && days[0] < first {
		if err := l.store.SetSetting(ctx, dayKey+days[0], ""); err != nil {
			return err
		}
		days = days[1:]
	}
	return save(ctx, l.store, daysKey, days)
}

// flushQuotas stores the quotas. writing is held, mu is not.
func (l *Ledger) flushQuotas(ctx context.Context) error {
	l.mu.Lock()
	read, dirty := l.read, l.dirty
	l.mu.Unlock()
	if !read {
		stored, err := load[thread.Quota](ctx, l.store, quotasKey)
		if err != nil {
			return err
		}
		l.mu.Lock()
		for _, q := range stored {
			l.keep(q)
		}
		l.read = true
		l.mu.Unlock()
	}
	if !dirty {
		return nil
	}
	l.mu.Lock()
	all := l.newest()
	l.dirty = false
	l.mu.Unlock()
	err := save(ctx, l.store, quotasKey, all)
	if err != nil {
		l.mu.Lock()
		l.dirty = true
		l.mu.Unlock()
	}
	return err
}

// list returns a day's rows, sorted.
func (d *day) list() []Spent {
	out := make([]Spent, 0, len(d.rows))
	for _, row := range d.rows {
		out = append(out, *row)
	}
	slices.SortFunc(out, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Thread, b.Thread))
	})
	return out
}

// newest returns the quotas, sorted. mu is held.
func (l *Ledger) newest() []thread.Quota {
	out := make([]thread.Quota, 0, len(l.quotas))
	for _, q := range l.quotas {
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b thread.Quota) int {
		return cmp.Or(cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Window, b.Window))
	})
	return out
}

// load reads a stored list; one that is missing or unreadable is empty.
func load[T any](ctx context.Context, s thread.Settings, k string) ([]T, error) {
	doc, err := s.Setting(ctx, k)
	if err != nil || doc == "" {
		return nil, err
	}
	var out []T
	if json.Unmarshal([]byte(doc), &out) != nil {
		return nil, nil
	}
	return out, nil
}

func save[T any](ctx context.Context, s thread.Settings, k string, list []T) error {
	doc, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.SetSetting(ctx, k, string(doc))
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxName)], "") }
