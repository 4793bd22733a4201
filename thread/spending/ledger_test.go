package spending

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// heard passes nothing on but counts.
type heard struct {
	thread.Observer
	n int
}

func (h *heard) ExchangeEnded(thread.ID, thread.Exchange) { h.n++ }

// refusing is a store that can be told to refuse.
type refusing struct {
	thread.Settings
	err error
}

func (r *refusing) SetSetting(ctx context.Context, k, v string) error {
	if r.err != nil {
		return r.err
	}
	return r.Settings.SetSetting(ctx, k, v)
}

// open makes a ledger whose clock says at.
func open(t *testing.T, store thread.Settings, at *time.Time) (*Ledger, *heard) {
	t.Helper()
	next := &heard{}
	l := New(next, store, func(id thread.ID) string { return "agent of " + string(id) }, slog.New(slog.DiscardHandler))
	l.now = func() time.Time {
		clock.Lock()
		defer clock.Unlock()
		return *at
	}
	return l, next
}

// clock guards the times that tests give ledgers, whose own goroutine reads them.
var clock sync.Mutex

// set changes the time that a ledger reads.
func set(at *time.Time, to time.Time) {
	clock.Lock()
	defer clock.Unlock()
	*at = to
}

func answer(model string, tokens int64, usd float64, priced bool) thread.Exchange {
	return thread.Exchange{Model: model, Usage: thread.Usage{Input: tokens, CacheRead: 1, CacheWrite: 2, CacheWriteHour: 1, Output: 3, CostUSD: usd, Priced: priced}}
}

// stored returns the rows since a day, newest day first.
func stored(t *testing.T, l *Ledger, since string) []Spent {
	t.Helper()
	rows, err := l.rows(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(rows, func(a, b Spent) int { return strings.Compare(b.Day, a.Day) })
	return rows
}

// limits returns the newest state of every limit.
func limits(l *Ledger) []thread.Quota {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newest()
}

// text is rows in a few words.
func text(rows []Spent) string {
	var lines []string
	for _, s := range rows {
		usd := "unknown"
		if s.USD != nil {
			usd = fmt.Sprintf("%.2f", *s.USD)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s %d answers %d+%d+%d(%d)+%d $%s %d unpriced", s.Day, s.Agent, s.Model, s.Thread, s.Answers,
			s.Input, s.CacheRead, s.CacheWrite, s.CacheWriteHour, s.Output, usd, s.Unpriced))
	}
	return strings.Join(lines, "\n")
}

// TestSpent sums up by day, agent, model and thread, over a restart too, and does not take an unknown price for none.
func TestSpent(t *testing.T) {
	store, now := memory.New(), time.Date(2026, 3, 1, 23, 0, 0, 0, time.Local)
	l, next := open(t, store, &now)
	l.ExchangeEnded("a", answer("m", 10, 0.25, true))
	l.ExchangeEnded("a", answer("m", 20, 0.25, true))
	l.ExchangeEnded("a", answer("other", 5, 0, false))
	l.ExchangeEnded("b", answer("m", 7, 0, true))
	l.ExchangeEnded("b", thread.Exchange{Model: "m"}) // counts nothing
	if next.n != 5 {
		t.Errorf("%d of 5 were passed on", next.n)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, _ = open(t, store, &now)
	l.ExchangeEnded("a", answer("m", 30, 0.50, true))
	l.ExchangeEnded("a", answer("other", 5, 1, true))
	set(&now, now.Add(2*time.Hour))
	l.ExchangeEnded("b", answer("m", 1, 0, false))
	want := `2026-03-02 agent of b m b 1 answers 1+1+2(1)+3 $unknown 1 unpriced
2026-03-01 agent of a m a 3 answers 60+3+6(3)+9 $1.00 0 unpriced
2026-03-01 agent of a other a 2 answers 10+2+4(2)+6 $1.00 1 unpriced
2026-03-01 agent of b m b 1 answers 7+1+2(1)+3 $0.00 0 unpriced`
	if got := text(stored(t, l, "")); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
	if got := stored(t, l, "2026-03-02"); len(got) != 1 {
		t.Errorf("one day is %d rows", len(got))
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestStoreRefuses loses nothing and counts nothing twice while the store is away.
func TestStoreRefuses(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	store := &refusing{Settings: memory.New(), err: errors.New("away")}
	l, _ := open(t, store, &now)
	e := answer("m", 10, 0.25, true)
	e.Quotas = []thread.Quota{{Upstream: "h", Window: "retry", At: now}}
	l.ExchangeEnded("a", e)
	for range 2 {
		if err := l.Flush(t.Context()); err == nil {
			t.Error("a refusal is no error")
		}
	}
	set(&now, now.AddDate(0, 0, 1))
	l.ExchangeEnded("a", e)
	store.err = nil
	want := "2026-03-02 agent of a m a 1 answers 10+1+2(1)+3 $0.25 0 unpriced\n2026-03-01 agent of a m a 1 answers 10+1+2(1)+3 $0.25 0 unpriced"
	if got := text(stored(t, l, "")); got != want || len(limits(l)) != 1 {
		t.Errorf("it says\n%s\n%v", got, limits(l))
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, _ = open(t, store, &now)
	if got := text(stored(t, l, "")); got != want || len(limits(l)) != 1 {
		t.Errorf("the next one says\n%s\n%v", got, limits(l))
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestKeptDays forgets days that are older than what is kept.
func TestKeptDays(t *testing.T) {
	store, now := memory.New(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	l, _ := open(t, store, &now)
	for range KeptDays + 10 {
		l.ExchangeEnded("a", answer("m", 10, 0.25, true))
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		set(&now, now.AddDate(0, 0, 1))
	}
	got := stored(t, l, "")
	if n := len(got); n != KeptDays+1 || got[n-1].Day <= "2026-03-01" {
		t.Errorf("%d days are kept, from %s on", n, got[n-1].Day)
	}
	if old, err := store.Setting(t.Context(), dayKey+"2026-03-01"); err != nil || old != "" {
		t.Errorf("the first day is still stored: %q %v", old, err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(l.days) > 1 {
		t.Errorf("%d days are in memory", len(l.days))
	}
}

// TestBounds keeps the sums of a day with very many threads, and the newest quotas.
func TestBounds(t *testing.T) {
	store, now := memory.New(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	l, _ := open(t, store, &now)
	const n = maxRows + 100
	for i := range n {
		e := answer(strings.Repeat("m", 10*maxName), 1, 1, true)
		e.Quotas = []thread.Quota{{Upstream: "h", Window: fmt.Sprint(i), At: now.Add(time.Duration(i) * time.Second)}}
		l.note(thread.ID(fmt.Sprint(i)), "one", e)
	}
	got := stored(t, l, "")
	var answers int64
	usd := 0.0
	for _, s := range got {
		answers += s.Answers
		usd += *s.USD
	}
	if answers != n || usd != n || len(got) > maxRows+1 || len(got[0].Model) > maxName {
		t.Errorf("%d answers, $%v in %d rows", answers, usd, len(got))
	}
	if n := len(limits(l)); n != maxQuotas {
		t.Errorf("%d quotas", n)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestNewestQuota keeps what was said last of each window of each upstream.
func TestNewestQuota(t *testing.T) {
	store, now := memory.New(), time.Now()
	l, _ := open(t, store, &now)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, n := range []int64{5, 7, 6} { // the last was said before the second
		l.ExchangeEnded("a", thread.Exchange{Quotas: []thread.Quota{
			{Upstream: "h", Window: "requests", Remaining: &n, At: at.Add(time.Duration([]int{0, 2, 1}[i]) * time.Minute)},
			{Upstream: "g", Window: "requests", Remaining: &n, At: at.Add(time.Duration(i) * time.Minute)},
		}})
	}
	stored(t, l, "")
	q := limits(l)
	if len(q) != 2 || q[0].Upstream != "g" || *q[0].Remaining != 6 || *q[1].Remaining != 7 || q[1].Thread != "a" {
		t.Errorf("it says %+v", q)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
