package manager

import (
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/share"
	"orchestrator/thread/watchlist"
)

// index has the threads that are live, for what one needs to know about the others; the shelf has those that are not. Its lock is taken after that of a thread, and
// nothing else is taken while it is held: whoever looks at several threads takes the list first, then each one's lock.
type index struct {
	cfg   *Config
	shelf *shelf

	mu    sync.Mutex // guards what follows
	live  map[thread.ID]*liveThread
	names map[string]*liveThread // the newest name of each
	order []*liveThread          // oldest first; replaced or appended to, never changed in place
}

func newIndex(cfg *Config, shelf *shelf) *index {
	return &index{cfg: cfg, shelf: shelf, live: make(map[thread.ID]*liveThread), names: make(map[string]*liveThread)}
}

// insert adds a thread. mu is held.
func (m *index) insert(l *liveThread) {
	m.live[l.id] = l
	m.names[l.t.Name] = l
	m.order = append(m.order, l)
}

// remove removes a purged thread. mu is held.
func (m *index) remove(l *liveThread) {
	delete(m.live, l.id)
	for name, of := range m.names {
		if of == l {
			delete(m.names, name)
		}
	}
	m.order = slices.DeleteFunc(slices.Clone(m.order), func(o *liveThread) bool { return o == l })
}

// rename makes a thread known by a new name.
func (m *index) rename(l *liveThread, from, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[l.id] != l {
		return
	}
	if m.names[from] == l {
		delete(m.names, from)
	}
	m.names[to] = l
}

// has reports whether a thread was not purged.
func (m *index) has(l *liveThread) bool { return m.other(l.id) == l }

// other returns a thread by its id, nil if there is none.
func (m *index) other(id thread.ID) *liveThread {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live[id]
}

// all returns all threads, oldest first.
func (m *index) all() []*liveThread {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clip(m.order)
}

// depth counts the ancestors, from parent upwards; purged ones do not count.
func (m *index) depth(parent thread.ID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for n <= len(m.live) {
		l := m.live[parent]
		if l == nil {
			break
		}
		n++
		parent = l.parent
	}
	return n
}

// sessionTaken reports whether another thread has a session. Who does not learn it may not use the session.
func (m *index) sessionTaken(id thread.ID, session string) (bool, error) {
	has := func(l *liveThread) bool { return l.id != id && l.thread().Session == session }
	if session != "" && slices.ContainsFunc(m.all(), has) {
		return true, nil
	}
	return m.shelf.hadSession(id, session)
}

// atRest returns the threads that match and are not live: it reads all of them.
func (m *index) atRest(match func(*thread.Thread) bool) ([]thread.Thread, error) {
	return m.shelf.where(func(t *thread.Thread) bool { return match(t) && m.other(t.ID) == nil })
}

// forked reports whether a live thread was forked from one.
func (m *index) forked(id thread.ID) bool {
	return slices.ContainsFunc(m.all(), func(l *liveThread) bool { return l.parent == id })
}

// rivals reports whether another thread runs the same agent in the same folder, and has no session yet.
func (m *index) rivals(t thread.Thread) bool {
	return slices.ContainsFunc(m.all(), func(l *liveThread) bool {
		o := l.thread()
		return o.ID != t.ID && l.running() != nil && o.Agent == t.Agent && o.Dir == t.Dir && o.Session == ""
	})
}

// running counts the threads whose agents run.
func (m *index) running() (n int) {
	for _, l := range m.all() {
		if l.running() != nil {
			n++
		}
	}
	return n
}

// sharing names the threads in use that work on the same files as t. One that runs without a terminal, and has nothing to
// do, does not use them.
func (m *index) sharing(t thread.Thread) []string { return m.with(t, (*liveThread).rests) }

// with names the threads in use that work on the same files as t, without some.
func (m *index) with(t thread.Thread, without func(*liveThread) bool) []string {
	return thread.NamesOf(thread.NewFolders(m.cfg.Project, func(yield func(*thread.Thread) bool) {
		for _, l := range m.all() {
			o := l.thread()
			if o.ID != t.ID && without(l) {
				continue
			}
			if !yield(&o) {
				return
			}
		}
	}).With(&t))
}

// besides names the threads in use that work on the same files as t, whether that is in use or not.
func (m *index) besides(t thread.Thread) []string {
	t.Archived, t.Deleted, t.Outcome = time.Time{}, time.Time{}, thread.Outcome{}
	return m.with(t, func(*liveThread) bool { return false })
}

// together returns the other threads that work on the same files, including those that are no longer in use: what they
// wrote is still there.
func (m *index) together(t thread.Thread) ([]thread.Thread, error) {
	var others []thread.Thread
	at := share.Place{Dir: t.Dir, Worktree: t.Worktree.Path}
	beside := func(o *thread.Thread) bool {
		return o.ID != t.ID && share.Together(m.cfg.Project, at, share.Place{Dir: o.Dir, Worktree: o.Worktree.Path})
	}
	for _, l := range m.all() {
		if o := l.thread(); beside(&o) {
			others = append(others, o)
		}
	}
	resting, err := m.atRest(beside)
	return append(others, resting...), err
}

// ranSince names the threads in a worktree or the project whose agents ran since a scan, except one that starts for the
// first time.
func (m *index) ranSince(root string, r watchlist.Record, starts thread.Thread) (names []string, err error) {
	for _, l := range m.all() {
		t := l.thread()
		if t.ID == starts.ID && starts.Created.After(r.At) {
			continue
		}
		if m.cfg.rootOf(t) == root && (l.running() != nil || t.Updated.After(r.At)) {
			names = append(names, t.Name)
		}
	}
	resting, err := m.atRest(func(t *thread.Thread) bool { return t.Updated.After(r.At) && m.cfg.rootOf(*t) == root })
	for _, t := range resting {
		names = append(names, t.Name)
	}
	return names, err
}
