package tree

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/list"
)

// Counts returns the sums over the threads that are not archived.
func (t *Tree) Counts() Counts {
	t.sort()
	return t.counts
}

// Filter shows only threads whose name, label, agent or state contains all words, with their parents.
func (t *Tree) Filter(text string) {
	if text == t.filter {
		return
	}
	t.filter, t.stale = text, true
	t.sort()
	words := strings.Fields(strings.ToLower(text))
	if s := t.threads[t.selected]; s == nil || matches(s, words) {
		return
	}
	for i, r := range t.rows { // not a parent that is only shown for its forks
		if matches(t.threads[r.ID], words) {
			t.selectRow(i)
			return
		}
	}
}

// Filtered returns the filter text.
func (t *Tree) Filtered() string { return t.filter }

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
	return t.threads[t.selected]
}

// Select selects a thread, expanding its parents if needed.
func (t *Tree) Select(id thread.ID) bool {
	s := t.threads[id]
	if s == nil {
		return false
	}
	for p := t.threads[s.Parent]; p != nil && t.folded[p.ID]; p = t.threads[p.Parent] {
		delete(t.folded, p.ID)
	}
	t.selected, t.stale = id, true
	if t.archived == s.Archived.IsZero() {
		t.archived = !s.Archived.IsZero()
	}
	t.sort()
	if _, shown := t.index[id]; !shown {
		t.filter, t.stale = "", true
		t.selected = id
		t.sort()
	}
	return t.selected == id
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

// Jump selects the n-th row on the screen, counted from 1.
func (t *Tree) Jump(n int) bool {
	t.sort()
	if i := t.win.Above() + n - 1; i < len(t.rows) && n >= 1 {
		t.selectRow(i)
		return true
	}
	return false
}

// NextWaiting selects the next thread that is waiting for the user, wrapping around.
func (t *Tree) NextWaiting() bool {
	t.sort()
	start := t.index[t.selected]
	for i := 1; i <= len(t.rows); i++ {
		n := (start + i) % len(t.rows)
		if Waits(t.threads[t.rows[n].ID]) {
			t.selectRow(n)
			return true
		}
	}
	for _, s := range t.All() { // collapsed or filtered out
		if Waits(s) && s.ID != t.selected {
			return t.Select(s.ID)
		}
	}
	return false
}

// Fold collapses the forks of the selected thread, or goes to its parent.
func (t *Tree) Fold() {
	t.sort()
	s := t.threads[t.selected]
	if s == nil {
		return
	}
	if r := t.rows[t.index[s.ID]]; r.Forks && !t.folded[s.ID] {
		t.folded[s.ID], t.stale = true, true
	} else if i, shown := t.index[s.Parent]; shown && s.Parent != "" {
		t.selectRow(i)
	}
}

// Unfold expands the forks of the selected thread.
func (t *Tree) Unfold() {
	if t.folded[t.selected] {
		delete(t.folded, t.selected)
		t.stale = true
	}
}

// ClickRow selects the row drawn at y, and reports whether there is one.
func (t *Tree) ClickRow(y int) bool {
	t.sort()
	if i, hit := t.win.Hit(y); hit && i < len(t.rows) {
		t.selectRow(i)
		return true
	}
	return false
}
