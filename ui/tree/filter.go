package tree

import "orchestrator/thread/filter"

// Filter shows only the threads that a filter selects, as package filter reads it; the pure tree shows their parents too.
func (t *Tree) Filter(text string) {
	if text == t.filter {
		return
	}
	t.filter, t.stale, t.asked = text, true, true
	t.only, t.wrong = filter.Parse(text)
	t.sort()
	if s := t.threads[t.selected]; s == nil || t.only.Match(s) {
		return
	}
	for i, r := range t.rows { // not a parent that is only shown for its forks
		if t.only.Match(t.threads[r.ID]) {
			t.selectRow(i)
			return
		}
	}
}

// Filtered returns the filter text.
func (t *Tree) Filtered() string { return t.filter }

// Found returns how many threads the filter selects, of how many, and what is wrong in it: the rest of it holds.
func (t *Tree) Found() (n, of int, wrong error) {
	t.sort()
	return t.found, t.among, t.wrong
}
