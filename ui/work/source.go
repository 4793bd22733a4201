package work

import (
	"cmp"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/budget"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// Config is what the feature needs of the root and of other features.
type Config struct {
	// Visit shows a thread.
	Visit func(thread.ID) tea.Cmd
	// Budget returns how much of a budget is spent, false if it has no limit.
	Budget func(budget.Scope) (budget.Account, bool)
	// Money shows what each work session has spent.
	Money func() tea.Cmd
	// Tasks shows the tasks of plans.
	Tasks func() tea.Cmd
	// Edit opens a file in the person's editor.
	Edit func(path string) tea.Cmd
	// Root is the project's folder.
	Root string
}

// source has what is known of the record, and asks for it.
type source struct {
	*host.Host
	cfg Config
	// isOpen reports whether it is shown, and changed is called when something else is known.
	isOpen  func() bool
	changed func()

	folds   folds
	known   record.Glance
	loaded  bool
	err     string
	stale   bool
	loading bool
	due     *record.OverviewRequest // what is asked for next, nil for nothing
	asked   time.Time               // when all of it was asked for
	waiting bool                    // until all of it may be asked for again
}

// allAgain is how often all of it is asked for at most, while much happens outside of work sessions.
const allAgain = time.Second

// touched takes that the record has changed in some work sessions, or anywhere if none is named.
func (f *source) touched(sessions []string) tea.Cmd {
	wait := allAgain - f.Clock().Sub(f.asked)
	switch {
	case !f.isOpen():
		return nil
	case len(sessions) > 0:
		return f.load(sessions)
	case f.waiting:
		return nil
	case wait > 0:
		f.waiting = true
		return f.After(wait, host.Reply(func() tea.Cmd {
			f.waiting = false
			return f.touched(nil)
		}))
	default:
		return f.load(nil)
	}
}

// again tells that the server may know something else, because it is another one.
func (f *source) again() { f.stale = true }

// follow asks for what is out of date.
func (f *source) follow() tea.Cmd {
	if !f.stale || !f.isOpen() {
		return nil
	}
	f.stale = false
	return f.load(nil)
}

// load asks for some work sessions, or for all of it. While an answer is awaited it is asked for afterwards.
func (f *source) load(only []string) tea.Cmd {
	q := record.OverviewRequest{Only: only}
	if f.loading {
		if f.due != nil && len(only) > 0 {
			if len(f.due.Only) > 0 {
				f.due.Only = append(f.due.Only, only...)
			}
			return nil
		}
		f.due = &q
		return nil
	}
	f.loading = true
	if len(only) == 0 {
		f.asked = f.Clock()
	}
	q.Open, q.Newest = f.opened(), len(only) == 0
	return host.Call(f.Host, host.Quick, api.WorkGlance.On(f.Server, q), func(g record.Glance, err error) tea.Cmd {
		f.loading = false
		if f.err = ""; err != nil {
			f.err = err.Error()
		} else {
			f.take(g, len(q.Only) > 0)
		}
		next := f.due
		if f.due = nil; next != nil && f.isOpen() {
			return f.load(next.Only)
		}
		return nil
	})
}

// take takes over what the server knows, or what it knows of some work sessions.
func (f *source) take(g record.Glance, some bool) {
	defer func() { f.loaded = true; f.changed() }()
	if !some {
		f.known = g
		return
	}
	for _, s := range g.Sessions {
		i := slices.IndexFunc(f.known.Sessions, func(is record.SessionGlance) bool { return is.Session.Name == s.Session.Name })
		if i >= 0 {
			f.known.Sessions[i] = s
			continue
		}
		f.known.Sessions = append(f.known.Sessions, s)
	}
	slices.SortStableFunc(f.known.Sessions, func(a, b record.SessionGlance) int {
		return b.Session.Created.Compare(a.Session.Created)
	})
}

// first is the name of the work session that is unfolded by itself: the newest.
func (f *source) first() string {
	if len(f.known.Sessions) == 0 {
		return ""
	}
	return f.known.Sessions[0].Session.Name
}

// opened are the names of the work sessions that are unfolded.
func (f *source) opened() []string {
	names := []string{}
	for _, s := range f.known.Sessions {
		if f.folds.open(s.Session.Name, s.Session.Name == f.first()) {
			names = append(names, s.Session.Name)
		}
	}
	return names
}

// fold folds or unfolds a node.
func (f *source) fold(n node, open bool) tea.Cmd {
	if !n.folds || n.open == open {
		return nil
	}
	f.folds[n.key()] = open
	f.changed()
	if n.session != nil && n.task == nil && open {
		return f.load([]string{n.session.Session.Name})
	}
	return nil
}

// asks returns the thread of a node that waits for the person to agree, and what it asks; nil if it does not.
func (f *source) asks(n node) (*thread.Status, *thread.Question) {
	if n.row == nil || n.row.State != work.Queued {
		return nil, nil
	}
	s := f.Threads.Thread(n.row.Thread)
	if s == nil || s.State.Question == nil || s.State.Question.ID != thread.ProceedID(string(n.row.ID)) {
		return nil, nil
	}
	return s, s.State.Question
}

// spent returns what a work session has spent, in words, and which part of its budget that is; false if it has none.
func (f *source) spent(s *record.SessionGlance) (said string, share float64, limited bool) {
	money := work.SpentOf(s.Sum.Usage).Money()
	limit := s.Session.Budget
	if !limit.Set() {
		return money, 0, false
	}
	sum := budget.Spent{Amount: budget.Amount{Tokens: s.Sum.Usage.Context(), USD: s.Sum.Usage.CostUSD}, Unknown: s.Sum.Usage.Unknown}
	if a, known := f.cfg.Budget(budget.OfSession(s.Session.Name)); known {
		sum = a.Spent // it has what runs still spend
	}
	return cmp.Or(budget.Used(limit, sum), money), budget.Share(limit, sum.Amount), true
}
