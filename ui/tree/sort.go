package tree

import (
	"maps"
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
	shown := t.pick()
	list := slices.SortedFunc(maps.Values(shown), t.older)
	t.rows = Rows(list, func(id thread.ID) bool { return t.folded[id] && t.filter == "" })
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

// pick returns the threads to show, and counts all.
func (t *Tree) pick() map[thread.ID]*thread.Status {
	words := strings.Fields(strings.ToLower(t.filter))
	t.counts = Counts{}
	shown := make(map[thread.ID]*thread.Status, len(t.threads))
	for id, s := range t.threads {
		t.count(s)
		if s.Archived.IsZero() == t.archived || !matches(s, words) {
			continue
		}
		shown[id] = s
		if len(words) == 0 {
			continue
		}
		p := t.threads[s.Parent]
		for n := 0; p != nil && n < maxDepth && p.Archived.IsZero() != t.archived; n++ {
			shown[p.ID] = p
			p = t.threads[p.Parent]
		}
	}
	return shown
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
