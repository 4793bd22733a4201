package spending

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
)

// By is what a Report groups spending by.
type By string

// The groupings.
const (
	ByAgent  By = "agent"
	ByModel  By = "model" // of an agent
	ByThread By = "thread"
	// BySession is by the work sessions that threads belong to; all threads that belong to none are one group.
	BySession By = "session"
)

// Period is a part of the calendar that ends today.
type Period string

// The periods: today, since Monday, since the first of the month.
const (
	Today Period = "today"
	Week  Period = "week"
	Month Period = "month"
)

// maxGroups is how many groups a report has; the others are summed up in one more.
const maxGroups = 200

// chartDays is the least number of days that a report lists one by one.
const chartDays = 14

// Query asks for a Report.
type Query struct {
	By     By     `json:"by,omitempty"`     // ByModel if empty
	Period Period `json:"period,omitempty"` // of the groups; Month if empty
	// Days, if not 0, has the groups be of so many days instead, today included.
	Days int `json:"days,omitempty"`
	// Brief asks for what was spent today and the limits only.
	Brief bool `json:"brief,omitempty"`
}

// Check returns an error for a query that cannot be answered.
func (q Query) Check() error {
	switch {
	case !slices.Contains([]By{"", ByAgent, ByModel, ByThread, BySession}, q.By):
		return fmt.Errorf("costs by %q: %w", q.By, thread.ErrInvalid)
	case !slices.Contains([]Period{"", Today, Week, Month}, q.Period):
		return fmt.Errorf("costs of %q: %w", q.Period, thread.ErrInvalid)
	case q.Days < 0 || q.Days > KeptDays:
		return fmt.Errorf("costs of %d days: %w", q.Days, thread.ErrInvalid)
	}
	return nil
}

// since returns the first day of the groups.
func (q Query) since(today string) string {
	if q.Days > 0 {
		return back(today, q.Days-1)
	}
	return cmp.Or(q.Period, Month).since(today)
}

// since returns the first day of the period.
func (p Period) since(today string) string {
	switch at, err := time.Parse(dayForm, today); {
	case err != nil:
		return today
	case p == Week:
		return back(today, (int(at.Weekday())+6)%7)
	case p == Month:
		return back(today, at.Day()-1)
	}
	return today
}

// back returns the day n days before another. Days are counted by the calendar, whatever the clock does in between.
func back(day string, n int) string {
	at, err := time.Parse(dayForm, day)
	if err != nil {
		return day
	}
	return at.AddDate(0, 0, -n).Format(dayForm)
}

// Report is spending summed up for people. In its sums only the fields are set that all rows share.
type Report struct {
	// Today, Week and Month are the sums of these periods, and Today.Day is the day.
	Today Spent `json:"today"`
	Week  Spent `json:"week"`
	Month Spent `json:"month"`
	// Days are the last days one by one, oldest first, those without spending too.
	Days []Spent `json:"days,omitempty"`
	// Groups are those of By since a day, most expensive first.
	By     By      `json:"by,omitempty"`
	Since  string  `json:"since,omitempty"`
	Groups []Group `json:"groups,omitempty"`
	// Quotas are the limits that providers reported and that still hold, the tightest first.
	Quotas []thread.Quota `json:"quotas,omitempty"`
	// Budgets are those of the project, of groups, threads and runs that have a limit.
	Budgets []budget.Account `json:"budgets,omitempty"`
}

// Group is what was spent by an agent, with a model, in a thread or in a work session.
type Group struct {
	Spent Spent `json:"spent"`
	// Name is the thread's, "" if it is gone.
	Name string `json:"name,omitempty"`
	// Threads and Models count those that are known; AtLeast is set if there were more threads.
	Threads int  `json:"threads"`
	Models  int  `json:"models"`
	AtLeast bool `json:"atLeast,omitempty"`
	// Others is how many groups are summed up in this one, 0 for one alone.
	Others int `json:"others,omitempty"`
}

// Model names the model, or says how many there are; "" if it is unknown.
func (g Group) Model() string {
	if g.Models > 1 {
		return fmt.Sprintf("%d models", g.Models)
	}
	return g.Spent.Model
}

// ThreadCount formats how many threads there are.
func (g Group) ThreadCount() string {
	if g.AtLeast {
		return fmt.Sprintf("%d+", g.Threads)
	}
	return fmt.Sprint(g.Threads)
}

// Title names the thread of a group by thread, or the work session of one by that.
func (g Group) Title(by By) string {
	switch {
	case by == BySession && g.Spent.Session == "":
		return "in no work session"
	case by == BySession:
		return g.Spent.Session
	case g.Name != "":
		return g.Name
	case g.Spent.Thread == "":
		return "further threads"
	default:
		return string(g.Spent.Thread) + " (deleted)"
	}
}

// SumUp sums up rows of the ledger for a query, as of a day.
func SumUp(rows []Spent, today string, q Query) Report {
	r := Report{Today: Spent{Day: today}}
	week, month := Week.since(today), Month.since(today)
	for _, s := range rows {
		if s.Day > today {
			continue // the clock was set back
		}
		if s.Day == today {
			r.Today.add(s)
		}
		if s.Day >= week {
			r.Week.add(s)
		}
		if s.Day >= month {
			r.Month.add(s)
		}
	}
	if q.Brief {
		r.Week, r.Month = Spent{}, Spent{}
		return r
	}
	r.By, r.Since = cmp.Or(q.By, ByModel), q.since(today)
	r.Days = daily(rows, today, max(q.Days, chartDays))
	r.Groups = groups(rows, r.By, r.Since, today)
	return r
}

// daily sums up rows by day.
func daily(rows []Spent, today string, n int) []Spent {
	out := make([]Spent, n)
	at := make(map[string]*Spent, n)
	for i := range out {
		out[i].Day = back(today, n-1-i)
		at[out[i].Day] = &out[i]
	}
	for _, s := range rows {
		if sum := at[s.Day]; sum != nil {
			sum.add(s)
		}
	}
	return out
}

// gathering is a group with what it was made of.
type gathering struct {
	group   Group
	threads map[thread.ID]bool
	models  map[string]bool
	agents  map[string]bool
}

// groupKey is what the rows of a group share.
type groupKey struct {
	agent, model, session string
	thread                thread.ID
}

// groups sums up rows from one day to another by something.
func groups(rows []Spent, by By, first, last string) []Group {
	all := map[groupKey]*gathering{}
	for _, s := range rows {
		if s.Day < first || s.Day > last {
			continue
		}
		k := groupKey{agent: s.Agent}
		switch by {
		case ByModel:
			k.model = s.Model
		case ByThread:
			k = groupKey{thread: s.Thread}
		case BySession:
			k = groupKey{session: s.Session}
		case ByAgent:
		}
		g := all[k]
		if g == nil {
			g = &gathering{threads: map[thread.ID]bool{}, models: map[string]bool{}, agents: map[string]bool{}}
			all[k] = g
		}
		g.group.Spent.add(s)
		g.models[s.Model], g.agents[s.Agent] = true, true
		if s.Thread == "" {
			g.group.AtLeast = true
		} else {
			g.threads[s.Thread] = true
		}
	}
	out := make([]Group, 0, len(all))
	for k, g := range all {
		one := g.group
		one.Spent.Session = k.session
		one.Spent.Thread, one.Threads, one.Models = k.thread, len(g.threads), len(g.models)
		one.Spent.Agent, one.Spent.Model = only(g.agents), only(g.models)
		out = append(out, one)
	}
	slices.SortFunc(out, dearer)
	if len(out) <= maxGroups {
		return out
	}
	rest := Group{Others: len(out) - maxGroups}
	for _, g := range out[maxGroups:] {
		rest.Spent.add(g.Spent)
		rest.Threads += g.Threads // of models, a thread counts for each
		rest.AtLeast = rest.AtLeast || g.AtLeast
	}
	return append(out[:maxGroups], rest)
}

// only returns the one that a set has, "" if it has more.
func only(set map[string]bool) string {
	if len(set) != 1 {
		return ""
	}
	for s := range set {
		return s
	}
	return ""
}

// dearer orders groups by what they cost, and those of unknown prices by their tokens.
func dearer(a, b Group) int {
	usd := func(s Spent) float64 {
		if s.USD == nil {
			return 0
		}
		return *s.USD
	}
	return cmp.Or(
		cmp.Compare(usd(b.Spent), usd(a.Spent)), cmp.Compare(b.Spent.Tokens(), a.Spent.Tokens()),
		cmp.Compare(a.Spent.Agent, b.Spent.Agent), cmp.Compare(a.Spent.Model, b.Spent.Model),
		cmp.Compare(a.Spent.Thread, b.Spent.Thread), cmp.Compare(a.Spent.Session, b.Spent.Session),
	)
}

// Tokens returns how many tokens were read and written.
func (s Spent) Tokens() int64 { return s.Input + s.CacheRead + s.CacheWrite + s.Output }

// Money returns what something cost: "?" stands for what has no known price.
func (s Spent) Money() string {
	switch {
	case s.USD == nil && s.Unpriced > 0:
		return "?"
	case s.USD == nil:
		return thread.USD(0)
	case s.Unpriced > 0:
		return thread.USD(*s.USD) + " + ?"
	default:
		return thread.USD(*s.USD)
	}
}

// Saved returns what masking saved, less what that cost; "" if nothing was spent.
func (s Spent) Saved() string {
	switch {
	case s.Answers == 0:
		return ""
	case s.SavedUSD == nil:
		return "?"
	case s.SavedOf < s.Answers:
		return thread.USD(*s.SavedUSD) + " + ?"
	default:
		return thread.USD(*s.SavedUSD)
	}
}

// Cached returns which share of what models read came from the provider's cache, in percent, and false if they read
// nothing.
func (s Spent) Cached() (percent float64, known bool) {
	all := s.Input + s.CacheRead + s.CacheWrite
	if all <= 0 {
		return 0, false
	}
	return float64(s.CacheRead) * 100 / float64(all), true
}

// Report sums up what was spent.
func (l *Ledger) Report(ctx context.Context, q Query) (Report, error) {
	if err := q.Check(); err != nil {
		return Report{}, err
	}
	now := l.now()
	today := now.Format(dayForm)
	first := today
	if !q.Brief {
		first = min(q.since(today), Week.since(today), Month.since(today), back(today, max(q.Days, chartDays)-1))
	}
	rows, err := l.rows(ctx, first)
	if err != nil {
		return Report{}, err
	}
	if q.By == BySession && l.Sessions != nil {
		of := l.Sessions()
		for i := range rows {
			rows[i].Session = of[rows[i].Thread]
		}
	}
	r := SumUp(rows, today, q)
	l.mu.Lock()
	r.Quotas = thread.Tightest(l.newest(), now)
	l.mu.Unlock()
	return r, nil
}

// ByThread sums up all that is kept, by thread; "" are those that are not told apart any more.
func (l *Ledger) ByThread(ctx context.Context) (map[thread.ID]Spent, error) {
	rows, err := l.rows(ctx, "")
	out := map[thread.ID]Spent{}
	for _, row := range rows {
		sum := out[row.Thread]
		sum.add(row)
		out[row.Thread] = sum
	}
	return out, err
}

// rows returns the stored rows from a day on, after what is not stored yet was.
func (l *Ledger) rows(ctx context.Context, first string) ([]Spent, error) {
	if err := l.Flush(ctx); err != nil {
		return nil, err
	}
	all, err := load[string](ctx, l.store, daysKey)
	if err != nil {
		return nil, fmt.Errorf("read spending: %w", err)
	}
	var out []Spent
	for _, at := range all {
		if at < first {
			continue
		}
		rows, err := load[Spent](ctx, l.store, dayKey+at)
		if err != nil {
			return nil, fmt.Errorf("read spending: %w", err)
		}
		out = append(out, rows...)
	}
	return out, nil
}
