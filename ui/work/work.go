// Package work shows the record of work: work sessions, their tasks and executions of all kinds as a tree, and on a page what
// one of them was given, what it said and what came of it.
//
// The server is asked when the view is opened, and again for what its events name; while it is closed nothing is asked.
package work

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/budget"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"

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
	// Edit opens a file in the person's editor.
	Edit func(path string) tea.Cmd
	// Root is the project's folder.
	Root string
}

// Feature shows the record of work.
type Feature struct {
	*host.Host
	cfg   Config
	panel *panel // open or closed
	folds folds

	known   record.Glance
	loaded  bool
	err     string
	stale   bool
	loading bool
	due     *record.OverviewRequest // what is asked for next, nil for nothing
	asked   time.Time               // when all of it was asked for
	waiting bool                    // until all of it may be asked for again
	page    *page                   // open or closed
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{Host: h, cfg: cfg, folds: folds{}}
	f.panel = &panel{f: f}
	h.Actions.On(intent.Work, f.show)
	return f
}

func (f *Feature) show() tea.Cmd {
	f.panel = &panel{f: f, at: f.panel.at}
	f.Dialogs.Push(f.panel)
	return f.load(nil)
}

// isOpen reports whether the view is open.
func (f *Feature) isOpen() bool { return f.Dialogs.Has(f.panel) }

// allAgain is how often all of it is asked for at most, while much happens outside of work sessions.
const allAgain = time.Second

// Touched takes that the record has changed in some work sessions, or anywhere if none is named.
func (f *Feature) Touched(sessions []string) tea.Cmd {
	var cmds []tea.Cmd
	if f.page != nil && f.Dialogs.Has(f.page) {
		cmds = append(cmds, f.page.load())
	}
	if !f.isOpen() {
		return tea.Batch(cmds...)
	}
	wait := allAgain - f.Clock().Sub(f.asked)
	switch {
	case len(sessions) > 0:
		cmds = append(cmds, f.load(sessions))
	case f.waiting:
	case wait > 0:
		f.waiting = true
		cmds = append(cmds, f.After(wait, host.Reply(func() tea.Cmd {
			f.waiting = false
			return f.Touched(nil)
		})))
	default:
		cmds = append(cmds, f.load(nil))
	}
	return tea.Batch(cmds...)
}

// Again tells that the server may know something else, because it is another one.
func (f *Feature) Again() { f.stale = true }

// Follow asks for what is out of date. Call it after every message.
func (f *Feature) Follow() tea.Cmd {
	if !f.stale || !f.isOpen() {
		return nil
	}
	f.stale = false
	return f.load(nil)
}

// load asks for some work sessions, or for all of it. While an answer is awaited it is asked for afterwards.
func (f *Feature) load(only []string) tea.Cmd {
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
func (f *Feature) take(g record.Glance, some bool) {
	defer func() { f.loaded = true; f.panel.fill() }()
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
func (f *Feature) first() string {
	if len(f.known.Sessions) == 0 {
		return ""
	}
	return f.known.Sessions[0].Session.Name
}

// opened are the names of the work sessions that are unfolded.
func (f *Feature) opened() []string {
	names := []string{}
	for _, s := range f.known.Sessions {
		if f.folds.open(s.Session.Name, s.Session.Name == f.first()) {
			names = append(names, s.Session.Name)
		}
	}
	return names
}

// fold folds or unfolds a node.
func (f *Feature) fold(n node, open bool) tea.Cmd {
	if !n.folds || n.open == open {
		return nil
	}
	f.folds[n.key()] = open
	f.panel.fill()
	if n.session != nil && n.task == nil && open {
		return f.load([]string{n.session.Session.Name})
	}
	return nil
}

// enter opens a node: an execution's thread, or its page where it has none; what can be unfolded is.
func (f *Feature) enter(n node) dialog.Result {
	switch {
	case n.row == nil:
		return host.Stay(func() tea.Cmd { return f.fold(n, !n.open) })
	case (n.row.Kind == work.KindRun || n.row.Kind == work.KindTerminal) && f.Threads.Thread(n.row.Thread) != nil:
		id := n.row.Thread
		return host.Do(func() tea.Cmd { return f.cfg.Visit(id) })
	default:
		return host.Stay(func() tea.Cmd { return f.read(n.row.ID, n.row.Execution) })
	}
}

// asks returns the thread of a node that waits for the person to agree, and what it asks; nil if it does not.
func (f *Feature) asks(n node) (*thread.Status, *thread.Question) {
	if n.row == nil || n.row.State != work.Queued {
		return nil, nil
	}
	s := f.Threads.Thread(n.row.Thread)
	if s == nil || s.State.Question == nil || s.State.Question.ID != thread.ProceedID(string(n.row.ID)) {
		return nil, nil
	}
	return s, s.State.Question
}

// answer asks once more, with what it would cost, and answers: choice is that which is offered first.
func (f *Feature) answer(n node, means thread.Meaning) dialog.Result {
	s, q := f.asks(n)
	if q == nil {
		return nil
	}
	id, of, name := s.ID, *q, n.row.Execution
	var body []dialog.Line
	for part := range strings.SplitSeq(of.About, "; ") {
		body = append(body, dialog.Plain(plain.Line(part))...)
	}
	choices := []dialog.Choice{dialog.Cancel("Later")}
	for i, c := range of.Choices {
		r := thread.AnswerRequest{Question: of.ID, Choice: i + 1}
		choices = append(choices, dialog.Choice{
			Label:  map[thread.Meaning]string{thread.Approve: "Start it", thread.ApproveAlways: "Start all", thread.Deny: "Cancel it"}[c.Means],
			Danger: c.Means != thread.Approve, Read: true, Preset: c.Means == means && means == thread.Approve,
			Result: host.Do(func() tea.Cmd { return f.send(id, r, name+": "+c.Text) }),
		})
	}
	return host.Stay(func() tea.Cmd {
		f.Dialogs.Push(dialog.NewAsk("proceed with "+name+"?", body, choices...).Until(func() string {
			now := f.Threads.Thread(id)
			if now == nil || !now.State.Question.Is(&of) {
				return "It was answered."
			}
			return ""
		}))
		return nil
	})
}

func (f *Feature) send(id thread.ID, r thread.AnswerRequest, said string) tea.Cmd {
	return host.Call(f.Host, host.Slow, api.Answer.On(f.Server, api.AnswerRequest{Thread: string(id), AnswerRequest: r}),
		func(_ thread.Status, err error) tea.Cmd {
			if err != nil {
				return f.Fail("answer "+f.Name(id), err)
			}
			return f.Notify(thread.LevelInfo, said)
		})
}

// spent returns what a work session has spent, in words, and which part of its budget that is; false if it has none.
func (f *Feature) spent(s *record.SessionGlance) (said string, share float64, limited bool) {
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
