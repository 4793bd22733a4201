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

	"orchestrator/thread"
	"orchestrator/thread/share"
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
	rows     []Row // what is on show, in order
	index    map[thread.ID]int
	titles   map[string]int   // how many on show are called so
	stale    bool             // rows are older than threads
	folders  *share.Index     // of working; nil when it is older than threads
	working  []*thread.Status // those in use
	win      list.Window      // of the rows
	counts   Counts
	beat     int // of the marks that move
}

// Counts is what the status line tells.
type Counts struct {
	Threads, Waiting, Unseen, Running, Working, Interrupted, Archived int
	CostUSD                                                           float64
}

// New makes an empty list of a project's threads.
func New(project string) *Tree {
	return &Tree{project: project, threads: map[thread.ID]*thread.Status{}, order: map[thread.ID]int{},
		gone: map[thread.ID]int64{}, folded: map[thread.ID]bool{}, index: map[thread.ID]int{}, titles: map[string]int{}}
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
	return a.Dir == b.Dir && a.Worktree.Path == b.Worktree.Path && a.InUse() == b.InUse() &&
		a.DisplayName() == b.DisplayName()
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
