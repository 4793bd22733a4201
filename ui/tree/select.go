package tree

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/list"
)

// Counts returns the sums over the threads that are not archived.
func (t *Tree) Counts() Counts {
	t.sort()
	return t.counts
}

// ShowArchive shows the archived threads, or the others.
func (t *Tree) ShowArchive(on bool) {
	if on != t.archived {
		t.archived, t.stale, t.win = on, true, list.Window{}
	}
}

// Archive reports whether the archive is shown.
func (t *Tree) Archive() bool { return t.archived }

// Len returns the number of rows.
func (t *Tree) Len() int {
	t.sort()
	return len(t.rows)
}

// Selected returns the selected thread, or nil.
func (t *Tree) Selected() *thread.Status {
	t.sort()
	return t.Thread(t.selected)
}

// Select selects a thread, expanding its parents if needed.
func (t *Tree) Select(id thread.ID) bool {
	s := t.threads[id]
	if s == nil {
		return false
	}
	below := s
	for p := range t.parents(s) {
		delete(t.folded, p.ID)
		if below.Runs() {
			t.opened[p.ID] = true
		}
		below = p
	}
	delete(t.closed, t.cards[id].place.Group)
	t.selected, t.stale = id, true
	if t.archived == s.Archived.IsZero() {
		t.archived = !s.Archived.IsZero()
	}
	t.sort()
	if _, shown := t.index[id]; !shown {
		t.Filter("")
		t.selected, t.stale = id, true
		t.sort()
	}
	return t.selected == id
}

// Mark marks the selected thread, or takes its mark, and goes to the next row.
func (t *Tree) Mark() {
	t.sort()
	if _, shown := t.index[t.selected]; !shown || t.Thread(t.selected) == nil {
		return
	}
	if t.marked[t.selected] {
		delete(t.marked, t.selected)
	} else {
		t.marked[t.selected] = true
	}
	t.Move(1)
}

// Unmark takes all marks, and reports whether there were any.
func (t *Tree) Unmark() bool {
	had := len(t.marked) > 0
	clear(t.marked)
	return had
}

// Marked returns the marked threads that are shown, in the order of the list.
func (t *Tree) Marked() []*thread.Status {
	if len(t.marked) == 0 {
		return nil
	}
	t.sort()
	var list []*thread.Status
	for _, r := range t.rows {
		if t.marked[r.ID] {
			list = append(list, t.threads[r.ID])
		}
	}
	return list
}

// Move moves the selection by n rows.
func (t *Tree) Move(n int) {
	t.sort()
	if len(t.rows) > 0 {
		t.selectRow(min(max(t.index[t.selected]+n, 0), len(t.rows)-1))
	}
}

// Page returns the number of rows of a page.
func (t *Tree) Page() int {
	n, _ := t.win.Steps(intent.PageDown)
	return n
}

// Jump selects the n-th thread on the screen, counted from 1.
func (t *Tree) Jump(n int) bool {
	t.sort()
	for _, l := range t.lines[min(t.win.Above(), len(t.lines)):] {
		if l.row < 0 {
			continue
		}
		if n--; n == 0 {
			t.selectRow(l.row)
			return true
		}
	}
	return false
}

// NextWaiting selects the next thread that needs the user, the one that waits longest first, and begins again after the
// last. If there is no other, it selects the next that has ended its work, which nobody has looked at.
func (t *Tree) NextWaiting() bool {
	t.sort()
	var needs, calls []*thread.Status
	for _, s := range listed(t) {
		switch c := t.cards[s.ID]; {
		case !c.waits:
		case c.place.Group == thread.GroupNeedsYou:
			needs = append(needs, s)
		default:
			calls = append(calls, s)
		}
	}
	for _, list := range [][]*thread.Status{needs, calls} {
		slices.SortStableFunc(list, func(a, b *thread.Status) int { return t.cards[a.ID].place.Compare(t.cards[b.ID].place) })
		at := slices.IndexFunc(list, func(s *thread.Status) bool { return s.ID == t.selected })
		if len(list) > 1 || len(list) == 1 && at < 0 {
			return t.Select(list[(at+1)%len(list)].ID)
		}
	}
	return len(needs)+len(calls) > 0 // it is selected
}

// Fold collapses the forks of the selected thread, or goes to its parent.
func (t *Tree) Fold() {
	t.sort()
	s := t.threads[t.selected]
	if s == nil {
		return
	}
	if r := t.rows[t.index[s.ID]]; r.Forks && !t.folded[s.ID] && (t.opened[s.ID] || r.Hides == 0) {
		t.folded[s.ID], t.stale, t.asked = true, true, true
		delete(t.opened, s.ID)
	} else if i, shown := t.index[s.Under()]; shown && s.Under() != "" {
		t.selectRow(i)
	}
}

// Unfold expands the forks and the runs of the selected thread.
func (t *Tree) Unfold() {
	t.sort()
	s := t.threads[t.selected]
	if s == nil {
		return
	}
	if r := t.rows[t.index[s.ID]]; r.Hides > 0 || t.folded[s.ID] {
		delete(t.folded, s.ID)
		t.opened[s.ID], t.stale = true, true
	}
}

// FoldGroup hides the threads of a group behind its title, or shows them again.
func (t *Tree) FoldGroup(g thread.Group) {
	t.closed[g], t.stale, t.asked = !t.closed[g], true, true
}

// Pure switches between the groups and the tree of all threads.
func (t *Tree) Pure() { t.pure, t.stale = !t.pure, true }

// Dense switches between one and two rows for each thread.
func (t *Tree) Dense() {
	if t.twoRows() {
		t.density = oneRow
	} else {
		t.density = twoRows
	}
}

// ClickRow selects the thread drawn at y, or folds the group whose title is there. It reports whether a thread is there.
func (t *Tree) ClickRow(y int) bool {
	t.sort()
	i, hit := t.win.Hit(y)
	switch {
	case !hit || i >= len(t.lines):
		return false
	case t.lines[i].row < 0:
		if below, more := t.win.Hit(y + 1); more && below == i {
			return false // the blank row above the title
		}
		t.FoldGroup(t.lines[i].group)
		return false
	default:
		t.selectRow(t.lines[i].row)
		return true
	}
}
