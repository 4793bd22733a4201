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
	"orchestrator/thread/share"
	"orchestrator/ui/intent"
	"orchestrator/ui/list"
)

// Tree is the list with its selection.
type Tree struct {
	// Lost is set while the server is gone: what threads do is not known then.
	Lost bool

	project  string // its folder
	threads  map[thread.ID]*thread.Status
	gone     map[thread.ID]int64 // the events that removed threads: what was known before them is not taken again
	order    map[thread.ID]int   // in which they came: times tell less, clocks may be set
	next     int                 // of the next that comes
	folded   map[thread.ID]bool
	filter   string
	archived bool // show the archive instead of the living

	selected thread.ID
	rows     []row // what is on show, in order
	index    map[thread.ID]int
	titles   map[string]int   // how many on show are called so
	stale    bool             // rows are older than threads
	folders  *share.Index     // of working; nil when it is older than threads
	working  []*thread.Status // those in use
	win      list.Window      // of the rows
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
	Threads, Waiting, Unseen, Running, Working, Interrupted, Archived int
	CostUSD                                                           float64
}

// New makes an empty list of a project's threads.
func New(project string) *Tree {
	return &Tree{project: project, threads: map[thread.ID]*thread.Status{}, order: map[thread.ID]int{}, gone: map[thread.ID]int64{}, folded: map[thread.ID]bool{}, index: map[thread.ID]int{}, titles: map[string]int{}}
}

// Restart says that what comes from now on is another run of the server's: its numbers begin again.
func (t *Tree) Restart() {
	for id, s := range t.threads {
		old := *s
		old.Seq = 0
		t.threads[id] = &old
	}
	clear(t.gone)
}

// Set replaces all threads by a list, but for what events have told since it was made. It is not older than the
// event with the number made, and oldest first.
func (t *Tree) Set(all []thread.Status, made int64) {
	t.folders = nil
	was, before := t.threads, t.order
	t.threads, t.order, t.next = make(map[thread.ID]*thread.Status, len(all)), make(map[thread.ID]int, len(all)), 0
	for i := range all {
		t.came(all[i].ID)
		made = max(made, all[i].Seq)
		if known := was[all[i].ID]; known != nil {
			t.threads[known.ID] = known
		}
		t.Put(all[i])
	}
	for id, s := range was {
		if s.Seq > made { // made since
			t.threads[id] = s
			if _, listed := t.order[id]; !listed {
				t.order[id] = len(all) + before[id]
				t.next = max(t.next, t.order[id]+1)
			}
		}
	}
	t.stale = true
}

// Put adds or replaces one, unless what is known of it is newer: a reply may come after the events that followed it.
func (t *Tree) Put(s thread.Status) {
	if known := t.threads[s.ID]; known != nil && known.Seq > s.Seq || t.gone[s.ID] > s.Seq {
		return
	}
	if known := t.threads[s.ID]; known == nil || !sameFolder(known, &s) {
		t.folders = nil
	}
	delete(t.threads, s.ID)
	if s.Deleted.IsZero() {
		t.threads[s.ID] = &s
		t.came(s.ID)
	}
	t.stale = true
}

// came puts one that is new behind the others.
func (t *Tree) came(id thread.ID) {
	if _, known := t.order[id]; !known {
		t.order[id] = t.next
		t.next++
	}
}

// Remove takes one out; seq is the event's number.
func (t *Tree) Remove(id thread.ID, seq int64) {
	delete(t.threads, id)
	t.gone[id] = seq
	t.folders, t.stale = nil, true
}

// sameFolder reports whether two reports of a thread say the same of where it works, and whether it does.
func sameFolder(a, b *thread.Status) bool {
	return a.Dir == b.Dir && a.Worktree.Path == b.Worktree.Path && a.InUse() == b.InUse() && a.DisplayName() == b.DisplayName()
}

// Sharing names the threads that work on the same files as one does, oldest first.
func (t *Tree) Sharing(one thread.Thread) []string {
	if !one.InUse() {
		return nil
	}
	if t.folders == nil {
		t.working = t.working[:0]
		places := make([]share.Place, 0, len(t.threads))
		for _, s := range t.threads {
			if s.InUse() {
				t.working, places = append(t.working, s), append(places, share.Place{Dir: s.Dir, Worktree: s.Worktree.Path})
			}
		}
		t.folders = share.NewIndex(t.project, places)
	}
	var others []*thread.Status
	for _, i := range t.folders.With(share.Place{Dir: one.Dir, Worktree: one.Worktree.Path}) {
		if s := t.working[i]; s.ID != one.ID {
			others = append(others, s)
		}
	}
	slices.SortFunc(others, t.older)
	names := make([]string, len(others))
	for i, s := range others {
		names[i] = s.DisplayName()
	}
	return names
}

// Thread returns a thread, nil when it is not known.
func (t *Tree) Thread(id thread.ID) *thread.Status { return t.threads[id] }

// All returns every thread, oldest first.
func (t *Tree) All() []*thread.Status {
	all := make([]*thread.Status, 0, len(t.threads))
	for _, s := range t.threads {
		all = append(all, s)
	}
	slices.SortFunc(all, t.older)
	return all
}

func (t *Tree) older(a, b *thread.Status) int { return cmp.Compare(t.order[a.ID], t.order[b.ID]) }

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
		t.archived, t.stale, t.win = on, true, list.Window{}
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
func (t *Tree) Page() int {
	n, _ := t.win.Steps(intent.PageDown)
	return n
}

// Jump selects the n-th row on screen, from 1.
func (t *Tree) Jump(n int) bool {
	t.sort()
	if i := t.win.Above() + n - 1; i < len(t.rows) && n >= 1 {
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
	if i, hit := t.win.Hit(y); hit && i < len(t.rows) {
		t.selectRow(i)
		return true
	}
	return false
}

func (t *Tree) selectRow(i int) { t.selected = t.rows[i].id }
