package tree

import (
	"slices"

	"orchestrator/thread"
)

// sort updates the rows.
func (t *Tree) sort() {
	if !t.stale {
		return
	}
	t.stale, t.fitted = false, false
	was := t.index[t.selected]
	shown := t.pick()
	t.number(shown)
	rows := t.arrange(shown, nil)
	now := held{t.selected, t.cards[t.selected].place}
	if t.focus && t.held.id == now.id && t.held.place != now.place {
		if as := t.arrange(shown, &t.held); !sameOrder(rows, as) {
			rows, now = as, t.held
		}
	}
	t.held = now
	t.show(rows)
	t.asked = false
	if _, there := t.index[t.selected]; !there {
		t.selected = ""
		if len(t.rows) > 0 {
			t.selectRow(min(was, len(t.rows)-1))
			t.stale = false // its place is its own
			t.held = held{t.selected, t.cards[t.selected].place}
		}
	}
}

// stays reports whether a thread is shown although it would be hidden: the selected one is, until the cursor moves or the
// person folds or filters. Whoever looks at it, or types into it, is not brought to another one.
func (t *Tree) stays(s *thread.Status) bool {
	_, shown := t.index[s.ID]
	return s.ID == t.selected && shown && !t.asked
}

func sameOrder(a, b []Row) bool {
	return slices.EqualFunc(a, b, func(a, b Row) bool { return a.ID == b.ID })
}

// show takes over rows, and puts the titles of groups between them.
func (t *Tree) show(rows []Row) {
	t.rows, t.lines, t.at = rows, t.lines[:0], t.at[:0]
	clear(t.index)
	i := 0
	add := func() {
		t.index[rows[i].ID] = i
		t.at = append(t.at, len(t.lines))
		t.lines = append(t.lines, line{row: i})
		i++
	}
	if t.grouped() {
		for _, g := range thread.Groups() {
			if i < len(rows) && t.groupOf(rows[i].ID) == g || t.shut(g) && t.counts.Groups[g] > 0 {
				t.lines = append(t.lines, line{-1, g})
			}
			for i < len(rows) && t.groupOf(rows[i].ID) == g {
				add()
			}
		}
	}
	for i < len(rows) {
		add()
	}
}

// grouped reports whether the list shows groups.
func (t *Tree) grouped() bool { return !t.pure && !t.archived }

// shut reports whether a group shows its title only.
func (t *Tree) shut(g thread.Group) bool { return t.closed[g] && t.filter == "" }

// groupOf returns the group in which a thread is shown.
func (t *Tree) groupOf(id thread.ID) thread.Group {
	if id == t.held.id {
		return t.held.place.Group
	}
	return t.cards[id].place.Group
}

// arrange returns the rows of threads, given oldest first; hold is the place of one of them instead of its own.
func (t *Tree) arrange(shown []*thread.Status, hold *held) []Row {
	if t.archived || t.pure {
		rows := Rows(shown, func(s *thread.Status, id thread.ID) bool { return hides(t, s, id) })
		t.rollUp(rows, shown)
		return rows
	}
	gone := t.hidden(shown)
	groups := thread.Groups()
	nodes := make([][]node, len(groups))
	for _, s := range shown {
		place := t.cards[s.ID].place
		if hold != nil && hold.id == s.ID {
			place = hold.place
		}
		if !t.stays(s) && (gone[s.ID] && place.Group != thread.GroupNeedsYou || t.shut(place.Group)) {
			continue
		}
		g := slices.Index(groups, place.Group)
		nodes[g] = append(nodes[g], node{of: s, place: place})
	}
	p := planting{under: func(_, _ *node) bool { return true }, before: beforeInGroup, lift: liftPlace}
	b := builder{rows: make([]Row, 0, len(shown))}
	for i := range nodes {
		for _, r := range p.plant(nodes[i]) {
			b.add(r, "", "")
		}
	}
	t.rollUp(b.rows, shown)
	return b.rows
}

// hidden returns the threads of which a parent is folded.
func (t *Tree) hidden(shown []*thread.Status) map[thread.ID]bool {
	if t.filter != "" {
		return nil
	}
	gone := map[thread.ID]bool{}
	for _, s := range shown {
		below := s
		for p := range t.parents(s) {
			if hides(t, below, p.ID) {
				gone[s.ID] = true
				break
			}
			below = p
		}
	}
	return gone
}

// hides reports whether a thread hides one that is directly below it: its forks if it is folded, its runs unless it is
// opened.
func hides(t *Tree, below *thread.Status, id thread.ID) bool {
	return t.filter == "" && t.threads[id] != nil && (t.folded[id] || below.Runs() && !t.opened[id])
}

// parents yields the threads that a thread was forked from, the nearest first.
func (t *Tree) parents(s *thread.Status) func(func(*thread.Status) bool) {
	return func(yield func(*thread.Status) bool) {
		p := t.threads[s.Under()]
		for n := 0; p != nil && n < maxDepth; n++ {
			if !yield(p) {
				return
			}
			p = t.threads[p.Under()]
		}
	}
}

// rollUp notes in rows which of them have forks, and what the folded ones hide.
func (t *Tree) rollUp(rows []Row, shown []*thread.Status) {
	at := make(map[thread.ID]*Row, len(rows))
	for i := range rows {
		rows[i].Forks, rows[i].Hides = false, 0
		at[rows[i].ID] = &rows[i]
	}
	groups := thread.Groups()
	for _, s := range shown {
		if s.Under() == "" {
			continue
		}
		if r := at[s.Under()]; r != nil {
			r.Forks = true
		}
		if t.filter != "" {
			continue
		}
		g, below, hidden := t.cards[s.ID].place.Group, s, false
		for p := range t.parents(s) {
			r := at[p.ID]
			hidden = hidden || hides(t, below, p.ID)
			below = p
			if r == nil || !hidden || p.ID == s.ID {
				continue
			}
			r.Hides++
			switch louder := slices.Index(groups, g) - slices.Index(groups, r.Loud); {
			case g == thread.GroupQuiet:
			case r.Loud == "" || louder < 0:
				r.Loud, r.Louds = g, 1
			case louder == 0:
				r.Louds++
			}
		}
	}
}

// number numbers threads that have the same name, the oldest first.
func (t *Tree) number(shown []*thread.Status) {
	clear(t.same)
	seen := make(map[string]int, len(shown))
	for _, s := range shown {
		name := t.cards[s.ID].name
		seen[name]++
		if n := seen[name]; n > 1 {
			t.same[s.ID] = n
		}
	}
}

// pick returns the threads to show, oldest first, and counts all.
func (t *Tree) pick() []*thread.Status {
	t.counts = Counts{Groups: map[thread.Group]int{}}
	shown := listed(t)
	for _, s := range shown {
		t.count(s)
	}
	hidden := func(s *thread.Status) bool { return s.Archived.IsZero() == t.archived }
	if t.only.Empty() {
		shown = slices.DeleteFunc(shown, hidden)
		t.found, t.among = len(shown), len(shown)
		return shown
	}
	wanted := map[thread.ID]bool{}
	t.found, t.among = 0, 0
	for _, s := range shown {
		if hidden(s) {
			continue
		}
		if t.among++; !t.only.Match(s) {
			wanted[s.ID] = wanted[s.ID] || t.stays(s)
			continue
		}
		t.found++
		wanted[s.ID] = true
		for p := range t.parents(s) {
			if hidden(p) {
				break
			}
			wanted[p.ID] = !t.grouped() || wanted[p.ID] // a tree needs the way to it
		}
	}
	return slices.DeleteFunc(shown, func(s *thread.Status) bool { return !wanted[s.ID] })
}

// listed returns all that stands in the list: the threads, oldest first, and then what is asked.
func listed(t *Tree) []*thread.Status {
	all := t.All()
	for _, id := range t.asks.ids {
		all = append(all, t.threads[id])
	}
	return all
}

func (t *Tree) count(s *thread.Status) {
	t.counts.CostUSD += s.Gauge.CostUSD
	if !s.Archived.IsZero() {
		t.counts.Archived++
		return
	}
	c := t.cards[s.ID]
	t.counts.Groups[c.place.Group]++
	if t.asks.is(s.ID) {
		t.counts.Waiting++
		return
	}
	t.counts.Threads++
	switch {
	case c.place.Group == thread.GroupNeedsYou:
		t.counts.Waiting++
	case c.waits:
		t.counts.Unseen++
	}
	st := s.State.State
	if st == thread.StateInterrupted && !s.Settled() {
		t.counts.Interrupted++
	}
	if s.Execution != nil && st.Live() {
		t.counts.Running++
		if st == thread.StateWorking || st == thread.StateStarting {
			t.counts.Working++
		}
	}
}

// selectRow moves the cursor to a row. The thread that it leaves goes to its own place.
func (t *Tree) selectRow(i int) {
	if id := t.rows[i].ID; id != t.selected {
		t.selected, t.stale = id, true
	}
}
