package wave

import (
	"cmp"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/host"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Config is what the feature needs of the root and of other features.
type Config struct {
	// Visit shows a thread.
	Visit func(thread.ID) tea.Cmd
	// Work shows the record of work.
	Work func() tea.Cmd
	// Asked is called when something else is asked, or nothing more.
	Asked func()
	// Seen reports whether all of the question that the cursor is on in the list of threads is in sight.
	Seen func() bool
	// Acts are what else can be done with tasks.
	Acts Acts
}

// Acts are what another feature does with tasks; those that are nil are not offered.
type Acts struct {
	Add, Split  func() tea.Cmd
	Edit, Start func(plan.Task) tea.Cmd // of a task that has not begun
	StartAll    func([]plan.Task) tea.Cmd
}

// source has what is known of tasks, and asks for it.
type source struct {
	*host.Host
	cfg     Config
	changed func() // something else is known
	also    func(tasks []string) tea.Cmd

	known   []wave.Sum // newest first
	more    bool
	loaded  bool
	err     string
	loading bool
	due     map[string]bool // what is asked for next
	all     bool            // all of it is
	last    time.Time       // when it was asked
	waiting bool            // until it may be asked again
	// answered are the questions that are being answered from here, by their names with the time at which they were asked,
	// until they are gone or could not be answered.
	answered map[string]time.Time
}

// apart is how often it is asked at most.
const apart = 250 * time.Millisecond

// touched takes that tasks have changed.
func (s *source) touched(names []string) tea.Cmd {
	if s.due == nil {
		s.due = map[string]bool{}
	}
	for _, n := range names {
		s.due[n] = true
	}
	return s.next()
}

// look asks for a task of which something was changed from here.
func (s *source) look(task string) tea.Cmd {
	return tea.Batch(s.touched([]string{task}), s.also([]string{task}))
}

// next asks for what is due, not too often.
func (s *source) next() tea.Cmd {
	if len(s.due) == 0 && !s.all || s.loading || s.waiting {
		return nil
	}
	if wait := apart - s.Clock().Sub(s.last); wait > 0 {
		s.waiting = true
		return s.After(wait, host.Reply(func() tea.Cmd {
			s.waiting = false
			return s.next()
		}))
	}
	return s.ask()
}

// load asks for the newest tasks.
func (s *source) load(names []string) tea.Cmd {
	s.all = s.all || len(names) == 0
	if s.loading {
		return nil
	}
	return s.ask()
}

// mostNamed is how many tasks are asked for by name; of more, the newest are.
const mostNamed = 50

func (s *source) ask() tea.Cmd {
	q := wave.GlanceRequest{}
	if !s.all && len(s.due) <= mostNamed {
		for n := range s.due {
			q.Only = append(q.Only, n)
		}
		slices.Sort(q.Only)
	}
	s.loading, s.all, s.last = true, false, s.Clock()
	clear(s.due)
	return host.Call(s.Host, host.Quick, api.WaveGlance.On(s.Server, q), func(g wave.Glance, err error) tea.Cmd {
		s.loading = false
		if s.err = ""; err != nil {
			s.err = err.Error()
		} else {
			s.take(g, len(q.Only) > 0)
		}
		s.changed()
		return s.next()
	})
}

// take takes over what the server knows, or what it knows of some tasks.
func (s *source) take(g wave.Glance, some bool) {
	s.loaded = true
	before := s.asked()
	if !some {
		s.known, s.more = g.Tasks, g.More
	} else {
		s.known = slices.DeleteFunc(s.known, func(k wave.Sum) bool { return slices.Contains(g.Gone, k.Task.Name) })
		for _, t := range g.Tasks {
			if i := slices.IndexFunc(s.known, func(k wave.Sum) bool { return k.Task.Name == t.Task.Name }); i >= 0 {
				s.known[i] = t
			} else {
				s.known = append(s.known, t)
			}
		}
	}
	slices.SortStableFunc(s.known, func(a, b wave.Sum) int {
		return cmp.Or(b.Task.Created.Compare(a.Task.Created), cmp.Compare(b.Task.Name, a.Task.Name))
	})
	s.forget()
	if after := s.asked(); !slices.Equal(before, after) {
		s.tell(after)
	}
}

// tell has the list of threads and the inbox show what is asked.
func (s *source) tell(all []thread.NodeQuestion) {
	tree.Ask(s.Threads, all)
	s.cfg.Asked()
}

// forget forgets answers to questions that are gone.
func (s *source) forget() {
	open := map[string]time.Time{}
	for _, k := range s.known {
		for _, q := range k.Open {
			open[q.Name()] = q.Since
		}
	}
	for name, at := range s.answered {
		if now, still := open[name]; !still || !now.Equal(at) {
			delete(s.answered, name)
		}
	}
}

// asked is what is asked and is not being answered, the oldest first.
func (s *source) asked() (all []thread.NodeQuestion) {
	for _, k := range s.known {
		if k.Task.Status != plan.InProgress {
			continue
		}
		for _, q := range k.Open {
			if at, answered := s.answered[q.Name()]; !answered || !at.Equal(q.Since) {
				all = append(all, q)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b thread.NodeQuestion) int { return a.Since.Compare(b.Since) })
	return all
}

// still reports whether a question is asked and is not being answered.
func (s *source) still(q thread.NodeQuestion) bool {
	return slices.ContainsFunc(s.asked(), func(o thread.NodeQuestion) bool { return o.Name() == q.Name() && o.Since.Equal(q.Since) })
}

// of returns what is known of a task.
func (s *source) of(name string) (wave.Sum, bool) {
	i := slices.IndexFunc(s.known, func(k wave.Sum) bool { return k.Task.Name == name })
	if i < 0 {
		return wave.Sum{}, false
	}
	return s.known[i], true
}

// works reports whether a task is at work.
func (s *source) works() bool {
	return slices.ContainsFunc(s.known, func(k wave.Sum) bool { return k.Task.Status == plan.InProgress })
}
