package tree

import (
	"cmp"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// sort brings the rows up to date.
func (t *Tree) sort() {
	if !t.stale {
		return
	}
	t.stale = false
	was := t.index[t.selected]
	shown := t.pick()
	kids := map[thread.ID][]*thread.Status{}
	var roots []*thread.Status
	for _, s := range shown {
		if p := t.threads[s.Parent]; p != nil && shown[p.ID] != nil {
			kids[p.ID] = append(kids[p.ID], s)
		} else {
			roots = append(roots, s)
		}
	}
	rank := map[thread.ID]int{}
	for _, r := range roots {
		lift(r, kids, rank, 0)
	}
	order := func(a, b *thread.Status) int {
		return cmp.Or(boolRank(rank[a.ID] == 0, rank[b.ID] == 0), boolRank(a.Pinned, b.Pinned),
			cmp.Compare(rank[a.ID], rank[b.ID]), t.older(a, b))
	}
	slices.SortFunc(roots, order)
	for _, k := range kids {
		slices.SortFunc(k, order)
	}
	t.rows = t.rows[:0]
	clear(t.index)
	clear(t.titles)
	for _, r := range roots {
		t.add(r, "", "", kids)
	}
	if _, there := t.index[t.selected]; !there {
		t.selected = ""
		if len(t.rows) > 0 {
			t.selectRow(min(was, len(t.rows)-1))
		}
	}
}

func boolRank(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// maxDepth bounds recursion over parents, which come from outside.
const maxDepth = 64

// lift computes each thread's rank: the best of its own and its forks'.
func lift(s *thread.Status, kids map[thread.ID][]*thread.Status, rank map[thread.ID]int, depth int) int {
	n := need(s)
	if depth < maxDepth {
		for _, k := range kids[s.ID] {
			n = min(n, lift(k, kids, rank, depth+1))
		}
	}
	rank[s.ID] = n
	return n
}

// pick returns the threads on show and counts all.
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

// add appends a thread and its forks to the rows.
func (t *Tree) add(s *thread.Status, lead, branch string, kids map[thread.ID][]*thread.Status) {
	if _, twice := t.index[s.ID]; twice || len(lead) > maxDepth*4 {
		return
	}
	r := row{id: s.ID, guide: lead + branch, kids: len(kids[s.ID]) > 0}
	folded := t.folded[s.ID] && t.filter == ""
	if folded {
		r.hides = descendants(s.ID, kids, 0)
	}
	t.index[s.ID] = len(t.rows)
	if s.Title != "" {
		t.titles[plain.Line(s.Title)]++
	}
	t.rows = append(t.rows, r)
	if folded {
		return
	}
	switch branch {
	case "├ ":
		lead += "│ "
	case "└ ":
		lead += "  "
	}
	for i, k := range kids[s.ID] {
		b := "├ "
		if i == len(kids[s.ID])-1 {
			b = "└ "
		}
		t.add(k, lead, b, kids)
	}
}

func descendants(id thread.ID, kids map[thread.ID][]*thread.Status, depth int) int {
	n := len(kids[id])
	if depth < maxDepth {
		for _, k := range kids[id] {
			n += descendants(k.ID, kids, depth+1)
		}
	}
	return n
}

func (t *Tree) selectRow(i int) { t.selected = t.rows[i].id }
