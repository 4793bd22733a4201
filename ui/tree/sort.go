package tree

import (
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// sort updates the rows.
func (t *Tree) sort() {
	if !t.stale {
		return
	}
	t.stale = false
	was := t.index[t.selected]
	t.rows = Rows(t.pick(), func(id thread.ID) bool { return t.folded[id] && t.filter == "" })
	clear(t.index)
	clear(t.titles)
	for i, r := range t.rows {
		t.index[r.ID] = i
		if s := t.threads[r.ID]; s.Title != "" {
			t.titles[plain.Line(s.Title)]++
		}
	}
	if _, there := t.index[t.selected]; !there {
		t.selected = ""
		if len(t.rows) > 0 {
			t.selectRow(min(was, len(t.rows)-1))
		}
	}
}

// pick returns the threads to show, oldest first, and counts all.
func (t *Tree) pick() []*thread.Status {
	words := strings.Fields(strings.ToLower(t.filter))
	t.counts = Counts{}
	shown := t.All()
	for _, s := range shown {
		t.count(s)
	}
	hidden := func(s *thread.Status) bool { return s.Archived.IsZero() == t.archived }
	if len(words) == 0 {
		return slices.DeleteFunc(shown, hidden)
	}
	wanted := map[thread.ID]bool{}
	for _, s := range shown {
		if hidden(s) || !matches(s, words) {
			continue
		}
		wanted[s.ID] = true
		p := t.threads[s.Parent]
		for n := 0; p != nil && n < maxDepth && !hidden(p); n++ {
			wanted[p.ID] = true
			p = t.threads[p.Parent]
		}
	}
	return slices.DeleteFunc(shown, func(s *thread.Status) bool { return !wanted[s.ID] })
}

func (t *Tree) count(s *thread.Status) {
	t.counts.CostUSD += s.Gauge.CostUSD
	if !s.Archived.IsZero() {
		t.counts.Archived++
		return
	}
	t.counts.Threads++
	st := s.State.State
	switch {
	case st.NeedsPerson():
		t.counts.Waiting++
	case st == thread.StateDone, s.State.Stuck && !s.Seen:
		t.counts.Unseen++
	case st == thread.StateInterrupted && s.Outcome.Kind == thread.OutcomeNone:
		t.counts.Interrupted++
	default:
		if _, left := s.Unanswered(); left && s.Outcome.Kind == thread.OutcomeNone {
			t.counts.Waiting++
		}
	}
	if s.Execution != nil && st.Live() {
		t.counts.Running++
		if st == thread.StateWorking || st == thread.StateStarting {
			t.counts.Working++
		}
	}
}

func matches(s *thread.Status, words []string) bool {
	if len(words) == 0 {
		return true
	}
	facts := []string{s.Name, s.Title, s.Label, s.Agent, string(s.State.State), LookOf(s).Word}
	text := strings.ToLower(strings.Join(facts, " "))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (t *Tree) selectRow(i int) { t.selected = t.rows[i].ID }
