package manager

import (
	"context"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
	"orchestrator/thread/ground/semaphore"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
)

// registry makes the runs of threads, and finds them.
type registry struct {
	// What every run is given.
	cfg      *Config
	past     past.Reader
	bus      *events.Bus
	work     *work
	notices  *notices
	intents  *intents
	environs *environs
	starts   *starts
	checker  *baseChecker
	open     *openRuns
	typing   *semaphore.Semaphore
	// answered is called for every recorded main response of every thread.
	answered func(ctx context.Context, l *liveThread, r recording.Response)
	// prompted is called with every prompt that a person typed in an agent itself.
	prompted func(l *liveThread, text string)

	index *index
	byID  map[thread.ID]*run // guarded by index.mu, and has what index.live has
}

// add adds a thread, unless there is one with its id, which it returns.
func (m *registry) add(t thread.Thread) *run {
	l, _ := m.insert(m.newRun(t))
	return l
}

// show is add for a thread that people see from now on. With busy it is being set up until endSetup is called, so that
// nobody starts it meanwhile.
func (m *registry) show(t thread.Thread, busy bool) *run {
	made := m.newRun(t)
	if busy {
		made.live.settingUp.take()
	}
	made.live.mu.Lock() // nobody sees it before it has a state
	defer made.live.mu.Unlock()
	l, added := m.insert(made)
	if added {
		made.live.show()
	}
	return l
}

func (m *registry) insert(made *run) (l *run, added bool) {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	if l := m.byID[made.live.id]; l != nil {
		return l, false
	}
	m.index.insert(made.live)
	m.byID[made.live.id] = made
	return made, true
}

func (m *registry) newRun(t thread.Thread) *run {
	live := &liveThread{
		id: t.ID, t: t, cfg: m.cfg, bus: m.bus, work: m.work, environs: m.environs, index: m.index, parent: t.Parent,
		queue: queue{begin: m.work.begin, done: m.work.done},
	}
	typist := &typist{live: live, cfg: m.cfg, bus: m.bus, work: m.work, notices: m.notices, slots: m.typing, prompted: m.prompted}
	told := recorded{
		live: live, typist: typist, cfg: m.cfg, bus: m.bus, work: m.work, notices: m.notices, index: m.index,
		past: m.past, answered: m.answered,
	}
	l := &run{
		live: live, typist: typist, cfg: m.cfg, past: m.past, bus: m.bus, work: m.work, notices: m.notices,
		intents: m.intents, environs: m.environs, index: m.index, starts: m.starts, checker: m.checker, open: m.open,
		recorder: recording.New(m.recording(), t.ID, told, turnPrompts{typist}, told),
	}
	l.forget = func() { m.drop(l) }
	typist.given = func(id thread.PromptID, err error) { promptGiven(l, id, err) }
	return l
}

// recording is the configuration that all recorders share.
func (m *registry) recording() recording.Config {
	return recording.Config{
		Store: m.cfg.Store, Past: m.past, Spool: m.cfg.Spool, Files: m.cfg.Worktrees, Agents: m.cfg.Agents,
		Models: m.cfg.Models, Env: m.environs.env, MCPs: m.cfg.mcps, Clock: m.cfg.Clock, Log: m.cfg.Log,
	}
}

// drop removes a purged thread.
func (m *registry) drop(l *run) {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	m.index.remove(l.live)
	delete(m.byID, l.live.id)
}

// all returns the runs, oldest first.
func (m *registry) all() []*run {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	lines := make([]*run, 0, len(m.index.order))
	for _, l := range m.index.order {
		lines = append(lines, m.byID[l.id])
	}
	return lines
}

// run returns a thread's run by its id, nil if there is none.
func (m *registry) run(id thread.ID) *run {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	return m.byID[id]
}

// called returns a thread's run by its id or its whole name, nil if there is none.
func (m *registry) called(ref string) *run {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	if l := m.byID[thread.ID(ref)]; l != nil {
		return l
	}
	if l := m.index.names[ref]; l != nil {
		return m.byID[l.id]
	}
	return nil
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
	if l := m.called(ref); l != nil && l.live.is(among) {
		return l, nil
	}
	var all []thread.Thread
	var begin, active, called []*run
	for _, l := range m.all() {
		t := l.live.thread()
		if !among(&t) {
			continue
		}
		all = append(all, t)
		whole, begins := t.Called(ref)
		if whole {
			called = append(called, l)
		}
		if ref != "" && (begins || strings.HasPrefix(t.Name, strings.ToLower(ref)) ||
			len(ref) >= 4 && strings.HasPrefix(string(t.ID), ref)) {
			begin = append(begin, l)
			if t.Archived.IsZero() {
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
		names = append(names, l.live.thread().Name)
	}
	return names
}

// nearest returns up to three names that a mistyped one may mean, or whose names or titles contain it.
func nearest(ref string, all []thread.Thread) []string {
	ref = strings.ToLower(ref)
	within := func(s string) bool { return ref != "" && strings.Contains(strings.ToLower(s), ref) }
	var names []string
	for _, t := range all {
		if within(t.Name) || within(t.Title) {
			names = append(names, t.Name)
		}
	}
	var words []string
	of := map[string]string{} // from what a person may have meant to a name
	for _, t := range all {
		slug := t.Name
		if i := strings.LastIndexByte(slug, '-'); i > 0 {
			slug = slug[:i]
		}
		for _, w := range []string{t.Name, slug, t.Title} {
			if _, known := of[w]; !known && w != "" {
				words, of[w] = append(words, w), t.Name
			}
		}
	}
	stem := ref
	if i := strings.LastIndexByte(ref, '-'); i > 0 && len(ref)-i == 5 {
		stem = ref[:i] // the number that ends a name may be another one
	}
	for _, w := range slices.Concat(near.Names(ref, words), near.Names(stem, words)) {
		if !slices.Contains(names, of[w]) {
			names = append(names, of[w])
		}
	}
	return names[:min(near.Most, len(names))]
}
