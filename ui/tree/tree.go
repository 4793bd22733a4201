// Package tree is the list of threads: parents and their forks, sorted by need.
//
// It is a read model: the root tells it what changed, and it sorts when it is drawn, once for
// however many changes came before. The selection follows the thread, not the row. Threads that
// wait for a person come first and lift the parents they hang from; among equals the order is
// that of creation, so the list stays where it is while agents work.
package tree

import (
	"cmp"
	"slices"
	"strings"

	"orchestrator/thread"
)

// Tree is the list with its selection.
type Tree struct {
	threads  map[thread.ID]*thread.Status
	folded   map[thread.ID]bool
	filter   string
	archived bool // show the archive instead of the living

	selected thread.ID
	rows     []row // what is on show, in order
	index    map[thread.ID]int
	stale    bool // rows are older than threads
	top      int  // first row on screen
	page     int  // rows on screen at the last draw
	counts   Counts
}

// row is one line on show.
type row struct {
	id thread.ID
	// guide is the lines that lead to the thread.
	guide string
	// hides is how many threads are folded away below it.
	hides int
	kids  bool
}

// Counts is what the status line tells.
type Counts struct {
	Threads, Waiting, Unseen, Running, Interrupted, Archived int
	CostUSD                                                  float64
}

// New makes an empty list.
func New() *Tree {
	return &Tree{threads: map[thread.ID]*thread.Status{}, folded: map[thread.ID]bool{}, index: map[thread.ID]int{}}
}

// Set replaces all threads.
func (t *Tree) Set(all []thread.Status) {
	t.threads = make(map[thread.ID]*thread.Status, len(all))
	for i := range all {
		if all[i].Deleted.IsZero() {
			t.threads[all[i].ID] = &all[i]
		}
	}
	t.stale = true
}

// Put adds or replaces one.
func (t *Tree) Put(s thread.Status) {
	if !s.Deleted.IsZero() {
		t.Remove(s.ID)
		return
	}
	t.threads[s.ID] = &s
	t.stale = true
}

// Remove takes one out.
func (t *Tree) Remove(id thread.ID) {
	delete(t.threads, id)
	t.stale = true
}

// Thread returns a thread, nil when it is not known.
func (t *Tree) Thread(id thread.ID) *thread.Status { return t.threads[id] }

// All returns every thread, oldest first.
func (t *Tree) All() []*thread.Status {
	all := make([]*thread.Status, 0, len(t.threads))
	for _, s := range t.threads {
		all = append(all, s)
	}
	slices.SortFunc(all, older)
	return all
}

func older(a, b *thread.Status) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}

// Counts returns the sums over the living threads.
func (t *Tree) Counts() Counts {
	t.sort()
	return t.counts
}

// Filter shows only threads whose name, label, agent or state holds all words, with the parents
// they hang from.
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
	for i, r := range t.rows { // not a parent that is shown for its forks
		if matches(t.threads[r.id], words) {
			t.selectRow(i)
			return
		}
	}
}

// Filtered returns the filter.
func (t *Tree) Filtered() string { return t.filter }

// ShowArchive shows the archived threads, or the living ones.
func (t *Tree) ShowArchive(on bool) {
	if on != t.archived {
		t.archived, t.stale, t.top = on, true, 0
	}
}

// Archive reports whether the archive is on show.
func (t *Tree) Archive() bool { return t.archived }

// Len is how many rows are on show.
func (t *Tree) Len() int {
	t.sort()
	return len(t.rows)
}

// Selected returns the selected thread, nil when there is none.
func (t *Tree) Selected() *thread.Status {
	t.sort()
	return t.threads[t.selected]
}

// Select moves the selection to a thread, unfolding what hides it.
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

// Page is how far a page goes.
func (t *Tree) Page() int { return max(t.page-1, 1) }

// Jump selects the n-th row on screen, from 1.
func (t *Tree) Jump(n int) bool {
	t.sort()
	if i := t.top + n - 1; i < len(t.rows) && n >= 1 {
		t.selectRow(i)
		return true
	}
	return false
}

// NextWaiting selects the next thread that waits for a person, going round.
func (t *Tree) NextWaiting() bool {
	t.sort()
	start := t.index[t.selected]
	for i := 1; i <= len(t.rows); i++ {
		n := (start + i) % len(t.rows)
		if Waits(t.threads[t.rows[n].id]) {
			t.selectRow(n)
			return true
		}
	}
	for _, s := range t.All() { // folded or filtered away
		if Waits(s) && s.ID != t.selected {
			return t.Select(s.ID)
		}
	}
	return false
}

// Fold hides the forks of the selected thread, or goes to its parent; Unfold shows them.
func (t *Tree) Fold() {
	t.sort()
	s := t.threads[t.selected]
	if s == nil {
		return
	}
	if r := t.rows[t.index[s.ID]]; r.kids && !t.folded[s.ID] {
		t.folded[s.ID], t.stale = true, true
	} else if i, shown := t.index[s.Parent]; shown && s.Parent != "" {
		t.selectRow(i)
	}
}

// Unfold shows the forks of the selected thread.
func (t *Tree) Unfold() {
	if t.folded[t.selected] {
		delete(t.folded, t.selected)
		t.stale = true
	}
}

// ClickRow selects the row drawn at y and reports whether there is one.
func (t *Tree) ClickRow(y int) bool {
	t.sort()
	if i := t.top + y; y >= 0 && i < len(t.rows) {
		t.selectRow(i)
		return true
	}
	return false
}

func (t *Tree) selectRow(i int) { t.selected = t.rows[i].id }

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
		return cmp.Or(boolRank(rank[a.ID] == 0, rank[b.ID] == 0), boolRank(a.Pinned, b.Pinned), cmp.Compare(rank[a.ID], rank[b.ID]), older(a, b))
	}
	slices.SortFunc(roots, order)
	for _, k := range kids {
		slices.SortFunc(k, order)
	}
	t.rows = t.rows[:0]
	clear(t.index)
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
		for p, n := t.threads[s.Parent], 0; p != nil && n < maxDepth && p.Archived.IsZero() != t.archived; p, n = t.threads[p.Parent], n+1 {
			shown[p.ID] = p
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
	case st == thread.StateDone:
		t.counts.Unseen++
	case st == thread.StateInterrupted:
		t.counts.Interrupted++
	}
	if s.Execution != nil && st.Live() {
		t.counts.Running++
	}
}

func matches(s *thread.Status, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(s.Name + " " + s.Label + " " + s.Agent + " " + string(s.State.State) + " " + LookOf(s).Word)
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
