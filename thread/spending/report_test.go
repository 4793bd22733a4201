package spending

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// spent is a row of so many dollars, less than 0 for an unknown price.
func spent(day, agent, model string, id thread.ID, usd float64) Spent {
	s := Spent{Day: day, Agent: agent, Model: model, Thread: id, Answers: 1, Input: 10, CacheRead: 90}
	if usd < 0 {
		s.Unpriced = 1
		return s
	}
	saved := usd / 10
	s.USD, s.SavedUSD, s.SavedOf = &usd, &saved, 1
	return s
}

// TestPeriods: weeks begin on Monday and months on the first, whatever the clock does in between.
func TestPeriods(t *testing.T) {
	for _, c := range []struct{ today, week, month, three string }{
		{"2026-03-02", "2026-03-02", "2026-03-01", "2026-02-28"}, // Monday
		{"2026-03-01", "2026-02-23", "2026-03-01", "2026-02-27"}, // Sunday
		{"2026-03-29", "2026-03-23", "2026-03-01", "2026-03-27"}, // summer time begins in Europe
		{"2026-10-26", "2026-10-26", "2026-10-01", "2026-10-24"}, // the day after it ends
		{"2026-01-01", "2025-12-29", "2026-01-01", "2025-12-30"},
		{"2028-03-01", "2028-02-28", "2028-03-01", "2028-02-28"}, // of a leap year: 28, 29, 1
	} {
		three := Query{Days: 3}.since(c.today)
		if w, m := Week.since(c.today), Month.since(c.today); w != c.week || m != c.month || three != c.three || Today.since(c.today) != c.today {
			t.Errorf("%s: week since %s, month since %s, three days since %s, want %+v", c.today, w, m, three, c)
		}
	}
}

// TestSumUp sums up rows by what they have in common; what has no known price is never counted as free.
func TestSumUp(t *testing.T) {
	rows := []Spent{
		spent("2026-02-28", "claude", "opus", "a", 100), // last month, and the week before
		spent("2026-03-01", "claude", "opus", "a", 4),   // this month, last week
		spent("2026-03-03", "claude", "opus", "a", 2),
		spent("2026-03-04", "claude", "opus", "a", 1),
		spent("2026-03-04", "claude", "haiku", "b", 0.001),
		spent("2026-03-04", "codex", "gpt", "b", -1),
		spent("2026-03-04", "codex", "gpt", "", 3), // threads above the limit of rows
		spent("2026-03-04", "demo", "free", "c", 0),
		spent("2026-03-05", "claude", "opus", "a", 50), // the clock was ahead
	}
	say := func(r Report) string {
		lines := []string{fmt.Sprintf("%s today %s, week %s, month %s, saved %s, since %s", r.Today.Day, r.Today.Money(), r.Week.Money(), r.Month.Money(), r.Month.Saved(), r.Since)}
		for _, g := range r.Groups {
			line := fmt.Sprintf("%s/%s/%s %s, saved %s, %s threads", g.Spent.Agent, g.Model(), g.Spent.Thread, g.Spent.Money(), g.Spent.Saved(), g.ThreadCount())
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n")
	}
	const head = "2026-03-04 today $4.00 + ?, week $6.00 + ?, month $10.00 + ?, saved $1.00 + ?, since "
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{By: ByModel, Period: Today}, head + `2026-03-04
codex/gpt/ $3.00 + ?, saved $0.30 + ?, 1+ threads
claude/opus/ $1.00, saved $0.10, 1 threads
claude/haiku/ <$0.01, saved <$0.01, 1 threads
demo/free/ $0.00, saved $0.00, 1 threads`},
		{Query{By: ByAgent}, head + `2026-03-01
claude/2 models/ $7.00, saved $0.70, 2 threads
codex/gpt/ $3.00 + ?, saved $0.30 + ?, 1+ threads
demo/free/ $0.00, saved $0.00, 1 threads`},
		{Query{By: ByThread, Days: 2}, head + `2026-03-03
claude/opus/a $3.00, saved $0.30, 1 threads
codex/gpt/ $3.00, saved $0.30, 0+ threads
/2 models/b <$0.01 + ?, saved <$0.01 + ?, 1 threads
demo/free/c $0.00, saved $0.00, 1 threads`},
		{Query{Brief: true}, "2026-03-04 today $4.00 + ?, week $0.00, month $0.00, saved , since "},
	} {
		if got := say(SumUp(rows, "2026-03-04", c.q)); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.q, got, c.want)
		}
	}
	if got := SumUp(nil, "2026-03-04", Query{}); say(got) != "2026-03-04 today $0.00, week $0.00, month $0.00, saved , since 2026-03-01" {
		t.Errorf("nothing: %s", say(got))
	}
	unpriced := []Spent{spent("2026-03-04", "codex", "gpt", "b", -1)}
	if got := SumUp(unpriced, "2026-03-04", Query{}); got.Today.Money() != "?" || got.Groups[0].Spent.Money() != "?" || got.Today.Saved() != "?" {
		t.Errorf("unknown: %+v", got)
	}
	if p, known := unpriced[0].Cached(); !known || p != 90 {
		t.Errorf("cached: %v %v", p, known)
	}
	if _, known := (Spent{Output: 5}).Cached(); known {
		t.Error("a share of nothing is known")
	}
}

// TestDaily lists each day once, also where the clock is set forward or back, and over the end of a month.
func TestDaily(t *testing.T) {
	rows := []Spent{spent("2026-03-28", "a", "m", "t", 1), spent("2026-03-30", "a", "m", "t", 2), spent("2026-03-30", "a", "m", "u", 4)}
	r := SumUp(rows, "2026-04-02", Query{})
	var got []string
	for _, d := range r.Days {
		got = append(got, d.Day[5:]+" "+d.Money())
	}
	want := "03-20 $0.00 03-21 $0.00 03-22 $0.00 03-23 $0.00 03-24 $0.00 03-25 $0.00 03-26 $0.00 03-27 $0.00 03-28 $1.00 03-29 $0.00 03-30 $6.00 03-31 $0.00 04-01 $0.00 04-02 $0.00"
	if strings.Join(got, " ") != want {
		t.Errorf("%s", got)
	}
	if n := len(SumUp(rows, "2026-04-02", Query{Days: 400}).Days); n != 400 {
		t.Errorf("%d of 400 days", n)
	}
}

// TestManyGroups has a bounded number of groups whose sum is that of all.
func TestManyGroups(t *testing.T) {
	var rows []Spent
	for i := range 3 * maxGroups {
		rows = append(rows, spent("2026-03-04", "a", "m", thread.ID(fmt.Sprint(i)), 1))
	}
	r := SumUp(rows, "2026-03-04", Query{By: ByThread})
	sum := 0.0
	for _, g := range r.Groups {
		sum += *g.Spent.USD
	}
	if last := r.Groups[len(r.Groups)-1]; len(r.Groups) != maxGroups+1 || sum != 3*maxGroups || last.Others != 2*maxGroups {
		t.Errorf("%d groups of $%v, the last %+v", len(r.Groups), sum, last)
	}
}

// TestReport asks the ledger: rows above its limit are in the sums, and what was stored before savings were is of
// unknown saving.
func TestReport(t *testing.T) {
	store, now := memory.New(), time.Date(2026, 3, 4, 12, 0, 0, 0, time.Local)
	old := `[{"day":"2026-03-03","agent":"a","model":"m","thread":"t","answers":2,"input":5,"usd":7}]`
	for k, v := range map[string]string{daysKey: `["2026-03-03"]`, dayKey + "2026-03-03": old} {
		if err := store.SetSetting(t.Context(), k, v); err != nil {
			t.Fatal(err)
		}
	}
	l, _ := open(t, store, &now)
	const n = maxRows + 50
	used := .61
	for i := range n {
		e := answer("m", 1, 1, true)
		e.SavedUSD = .5
		e.Quotas = []thread.Quota{{Upstream: "h", Window: "unified-5h", Used: &used, Resets: now.Add(time.Hour), At: now}}
		l.note(thread.ID(fmt.Sprint(i)), "a", e)
	}
	r, err := l.Report(t.Context(), Query{By: ByAgent})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Groups[0]; r.Today.Money() != "$5050.00" || r.Week.Money() != "$5057.00" || got.Threads != maxRows+1 || !got.AtLeast ||
		r.Today.Saved() != "$2525.00" || r.Week.Saved() != "$2525.00 + ?" {
		t.Errorf("%+v %+v", r.Today, got)
	}
	if len(r.Quotas) != 1 || r.Quotas[0].Label() != "5h" {
		t.Errorf("limits: %+v", r.Quotas)
	}
	if r, err = l.Report(t.Context(), Query{Brief: true}); err != nil || r.Today.Money() != "$5050.00" || len(r.Quotas) != 1 || r.Groups != nil {
		t.Errorf("in brief: %+v, %v", r, err)
	}
	set(&now, now.Add(24*time.Hour))
	if r, err = l.Report(t.Context(), Query{Brief: true}); err != nil || r.Today.Money() != "$0.00" || len(r.Quotas) != 0 {
		t.Errorf("the next day: %+v, %v", r, err)
	}
	for _, q := range []Query{{By: "day"}, {Period: "year"}, {Days: -1}, {Days: KeptDays + 1}} {
		if _, err := l.Report(t.Context(), q); err == nil {
			t.Errorf("%+v is answered", q)
		}
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
