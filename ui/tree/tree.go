// Package tree is the list of threads: in the groups of the domain, those that need the user first, or as a tree of
// parents and their forks.
//
// It is a read model: the root reports changes, and it is sorted when drawn, once for any number of changes. The
// selection follows the thread, not the row. While the list is focused, the selected thread keeps its row when its
// group changes, until the cursor moves: no row moves away under the cursor. Threads that work are in the order of
// their creation, so that the list does not move while they do.
package tree

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/filter"
	"orchestrator/thread/share"
	"orchestrator/ui/list"
)

// Tree is the list with its selection.
type Tree struct {
	// Lost is set while the server is gone, and the states of threads are unknown.
	Lost bool

	project  string // the project's folder
	threads  map[thread.ID]*thread.Status
	cards    map[thread.ID]card  // what is derived of each, once for each report
	arrived  []thread.ID         // the threads in order of arrival, because clocks may be set
	asks     questions           // what tasks of plans ask
	gone     map[thread.ID]int64 // the events that removed threads: older reports are ignored
	folded   map[thread.ID]bool
	opened   map[thread.ID]bool    // threads that show their runs
	closed   map[thread.Group]bool // groups that show their title only
	filter   string
	only     filter.Filter // what the filter says
	wrong    error         // what is wrong in it
	found    int           // how many threads it selects
	among    int           // of how many
	archived bool          // show the archive instead of the others
	pure     bool          // the pure tree, without groups
	density  density

	selected thread.ID
	marked   map[thread.ID]bool
	held     held
	focus    bool  // the cursor is in the list, since it was last drawn
	rows     []Row // the threads shown, in order
	index    map[thread.ID]int
	lines    []line            // the rows and the titles of groups, in order
	at       []int             // the line of each row
	same     map[thread.ID]int // of threads with the same name the second, third, …
	fitted   bool              // the window fits them
	stale    bool              // rows are older than threads
	asked    bool              // the person folds or filters: the selected thread may be hidden by it
	folders  *share.Index      // index of working; nil if older than threads
	working  []*thread.Status  // the active threads, oldest first
	win      list.Window       // of the lines
	w, h     int               // the size of the list, 0 before it is drawn
	counts   Counts
}

// held is the place in which the selected thread stays while the cursor rests on it.
type held struct {
	id    thread.ID
	place thread.Place
}

// density describes how many rows a thread takes.
type density int

const (
	bySize  density = iota // by the room that there is
	oneRow                 // one, always
	twoRows                // two, but for quiet ones
)

// line is what the list shows: a thread, or the title of a group.
type line struct {
	row   int          // of rows; -1 for a title
	group thread.Group // of the title
}

// Counts are the numbers in the status line.
type Counts struct {
	Threads, Waiting, Unseen, Running, Working, Interrupted, Archived int
	CostUSD                                                           float64
	// Groups counts the threads in each group.
	Groups map[thread.Group]int
}

// New returns an empty list of a project's threads.
func New(project string) *Tree {
	return &Tree{project: project, threads: map[thread.ID]*thread.Status{}, cards: map[thread.ID]card{},
		gone: map[thread.ID]int64{}, folded: map[thread.ID]bool{}, opened: map[thread.ID]bool{}, marked: map[thread.ID]bool{}, closed: map[thread.Group]bool{},
		index: map[thread.ID]int{}, same: map[thread.ID]int{}}
}

// Restart says that reports now come from another run of the server, whose event numbers start again.
func (t *Tree) Restart() {
	for id, s := range t.threads {
		if t.asks.is(id) {
			continue
		}
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
	t.cards = make(map[thread.ID]card, len(all))
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
	t.asks.put(t.threads, t.cards)
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
	t.cards[s.ID] = cardOf(s)
}

func (t *Tree) drop(id thread.ID) {
	if t.threads[id] == nil {
		return
	}
	delete(t.threads, id)
	delete(t.cards, id)
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
func (t *Tree) Thread(id thread.ID) *thread.Status {
	if t.asks.is(id) {
		return nil
	}
	return t.threads[id]
}

// All returns all threads, oldest first.
func (t *Tree) All() []*thread.Status {
	all := make([]*thread.Status, len(t.arrived))
	for i, id := range t.arrived {
		all[i] = t.threads[id]
	}
	return all
}
