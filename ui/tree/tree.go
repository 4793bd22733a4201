// Package tree is the list of threads: parents and their forks, those that need the user first.
//
// It is a read model: the root reports changes, and it is sorted when drawn, once for any number of changes. The
// selection follows the thread, not the row. Threads that are waiting for the user come first, and their parents with
// them; otherwise the order is that of creation, so that the list does not move while agents work.
package tree

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/share"
	"orchestrator/ui/list"
)

// Tree is the list with its selection.
type Tree struct {
	// Lost is set while the server is gone, and the states of threads are unknown.
	Lost bool

	project  string // the project's folder
	threads  map[thread.ID]*thread.Status
	arrived  []thread.ID         // the threads in order of arrival, because clocks may be set
	gone     map[thread.ID]int64 // the events that removed threads: older reports are ignored
	folded   map[thread.ID]bool
	filter   string
	archived bool // show the archive instead of the others

	selected thread.ID
	rows     []Row // the visible rows, in order
	index    map[thread.ID]int
	titles   map[string]int   // how many visible threads have a title
	stale    bool             // rows are older than threads
	folders  *share.Index     // index of working; nil if older than threads
	working  []*thread.Status // the active threads, oldest first
	win      list.Window      // of the rows
	counts   Counts
	frame    int // the spinners' frame
}

// Counts are the numbers in the status line.
type Counts struct {
	Threads, Waiting, Unseen, Running, Working, Interrupted, Archived int
	CostUSD                                                           float64
}

// New returns an empty list of a project's threads.
func New(project string) *Tree {
	return &Tree{project: project, threads: map[thread.ID]*thread.Status{},
		gone: map[thread.ID]int64{}, folded: map[thread.ID]bool{}, index: map[thread.ID]int{}, titles: map[string]int{}}
}

// Restart says that reports now come from another run of the server, whose event numbers start again.
func (t *Tree) Restart() {
	for id, s := range t.threads {
		old := *s
		old.Seq = 0
		t.threads[id] = &old
	}
	clear(t.gone)
}

// Set replaces all threads by a list, except for what newer events have reported. The list is in order of creation, and
// not older than the event with the number made. The tree keeps it.
func (t *Tree) Set(all []thread.Status, made int64) {
	t.folders = nil
	was, before := t.threads, t.arrived
	t.threads, t.arrived = make(map[thread.ID]*thread.Status, len(all)), make([]thread.ID, 0, len(all))
	listed := func(thread.ID) bool { return false }
	if len(was) > 0 {
		ids := make(map[thread.ID]bool, len(all))
		for i := range all {
			ids[all[i].ID] = true
		}
		listed = func(id thread.ID) bool { return ids[id] }
	}
	for i := range all {
		s := &all[i]
		made = max(made, s.Seq)
		if known := was[s.ID]; known != nil && known.Seq > s.Seq {
			s = known
		}
		t.put(s)
	}
	for _, id := range before {
		if s := was[id]; s.Seq > made && !listed(id) { // newer than the list
			t.put(s)
		}
	}
	t.stale = true
}

// Put adds or replaces a thread, unless a newer report is known: a reply can arrive after the events that followed it.
func (t *Tree) Put(s thread.Status) { t.put(&s) }

func (t *Tree) put(s *thread.Status) {
	known := t.threads[s.ID]
	if known != nil && known.Seq > s.Seq || t.gone[s.ID] > s.Seq {
		return
	}
	if known == nil || !sameFolder(known, s) {
		t.folders = nil
	}
	t.stale = true
	switch {
	case !s.Deleted.IsZero():
		t.drop(s.ID)
		return
	case known == nil:
		t.arrived = append(t.arrived, s.ID)
	}
	t.threads[s.ID] = s
}

func (t *Tree) drop(id thread.ID) {
	if t.threads[id] == nil {
		return
	}
	delete(t.threads, id)
	t.arrived = slices.DeleteFunc(t.arrived, func(other thread.ID) bool { return other == id })
}

// Remove removes a thread; seq is the number of the event.
func (t *Tree) Remove(id thread.ID, seq int64) {
	t.drop(id)
	t.gone[id] = seq
	t.folders, t.stale = nil, true
}

// sameFolder reports whether two reports of a thread agree on its folder and on whether it is active.
func sameFolder(a, b *thread.Status) bool {
	return a.Dir == b.Dir && a.Worktree.Path == b.Worktree.Path && a.InUse() == b.InUse() &&
		a.DisplayName() == b.DisplayName()
}

// Thread returns a thread, or nil if it is unknown.
func (t *Tree) Thread(id thread.ID) *thread.Status { return t.threads[id] }

// All returns all threads, oldest first.
func (t *Tree) All() []*thread.Status {
	all := make([]*thread.Status, len(t.arrived))
	for i, id := range t.arrived {
		all[i] = t.threads[id]
	}
	return all
}
