package manager

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/recording"
)

// registry finds threads.
type registry struct {
	*liveThreads
	byID map[thread.ID]*run // guarded by core.mu
	// answered is called for every recorded main response of every thread.
	answered  func(ctx context.Context, l *liveThread, r recording.Response)
	recording recording.Config
}

func newRegistry(c *core) *registry {
	return &registry{liveThreads: newLiveThreads(c), byID: make(map[thread.ID]*run), recording: recordingOf(c)}
}

// add adds a thread. core.mu is held.
func (m *registry) add(t thread.Thread) *run {
	l := &run{typist: typist{liveThread: liveThread{
		liveThreads: m.liveThreads, id: t.ID, t: t, queue: queue{begin: m.begin, done: m.done},
	}}}
	told := recorded{typist: &l.typist, answered: m.answered}
	l.recorder = recording.New(m.recording, t.ID, told, turnPrompts{&l.typist}, told)
	l.forget = func() { m.drop(l) }
	m.insert(&l.liveThread)
	m.byID[t.ID] = l
	return l
}

// drop removes a purged thread. core.mu is held.
func (m *registry) drop(l *run) {
	m.remove(&l.liveThread)
	delete(m.byID, l.id)
}

// all returns the runs, oldest first. core.mu is held.
func (m *registry) all() []*run {
	lines := make([]*run, 0, len(m.order))
	for _, id := range m.order {
		lines = append(lines, m.byID[id])
	}
	return lines
}

// run returns a thread's run by its id, nil if there is none.
func (m *registry) run(id thread.ID) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byID[id]
}

// find returns the run for a name, a unique prefix of one or an id, among all threads that are not deleted.
func (m *registry) find(ref string) (*run, error) {
	return m.findAmong(ref, func(t *thread.Thread) bool { return t.Deleted.IsZero() })
}

// findDeleted is find among the deleted threads.
func (m *registry) findDeleted(ref string) (*run, error) {
	return m.findAmong(ref, func(t *thread.Thread) bool { return !t.Deleted.IsZero() })
}

func (m *registry) findAmong(ref string, among func(*thread.Thread) bool) (*run, error) {
	ref = strings.TrimSpace(ref)
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.byID[thread.ID(ref)]; l != nil && among(&l.t) {
		return l, nil
	}
	for _, l := range m.byID { // names are unique
		if l.t.Name == ref && among(&l.t) {
			return l, nil
		}
	}
	var all, begin, active, called []*run
	for _, l := range m.all() {
		if !among(&l.t) {
			continue
		}
		all = append(all, l)
		whole, begins := l.t.Called(ref)
		if whole {
			called = append(called, l)
		}
		if ref != "" && (begins || strings.HasPrefix(l.t.Name, strings.ToLower(ref)) ||
			len(ref) >= 4 && strings.HasPrefix(string(l.id), ref)) {
			begin = append(begin, l)
			if l.t.Archived.IsZero() {
				active = append(active, l)
			}
		}
	}
	if len(begin) == 1 {
		return begin[0], nil
	}
	if len(called) == 1 {
		return called[0], nil
	}
	if len(active) == 1 {
		return active[0], nil // an archived thread of the same name is not meant
	}
	if len(begin) > 1 {
		return nil, &thread.UnknownThreadError{Name: ref, Nearest: namesOf(begin, 5), Many: true}
	}
	return nil, &thread.UnknownThreadError{Name: ref, Nearest: nearest(ref, all)}
}

func namesOf(lines []*run, most int) []string {
	var names []string
	for _, l := range lines {
		if len(names) == most {
			break
		}
		names = append(names, l.t.Name)
	}
	return names
}

// nearest returns up to three similar names.
func nearest(ref string, lines []*run) []string {
	type near struct {
		name string
		far  int
	}
	ref = strings.ToLower(ref)
	var found []near
	for _, l := range lines {
		name := l.t.Name
		slug := name
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			slug = name[:i]
		}
		far := min(distance(ref, name), distance(ref, slug))
		if title := strings.ToLower(l.t.Title); title != "" {
			far = min(far, distance(ref, title))
			if strings.Contains(title, ref) {
				far = 0
			}
		}
		if ref != "" && strings.Contains(name, ref) {
			far = 0
		}
		if far <= max(2, len(ref)/3) {
			found = append(found, near{name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, n := range found[:min(3, len(found))] {
		names = append(names, n.name)
	}
	return names
}

// distance counts the letters to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	if len(a) > 64 {
		a = a[:64] // names are shorter; a pasted page must not take a second
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
