package manager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
	"orchestrator/thread/ground/semaphore"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
)

// registry makes the runs of threads, and finds them. Those in use are live, and those that they were forked from. The
// others become live when they are used.
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
	merging  *exclusive
	typing   *semaphore.Semaphore
	// answered is called for every recorded main response of every thread.
	answered func(ctx context.Context, l *liveThread, r recording.Response)
	// prompted is called with every prompt that a person typed in an agent itself.
	prompted func(l *liveThread, text string)

	shelf *shelf
	index *index
	byID  map[thread.ID]*run // guarded by index.mu, and has what index.live has
	// woken is called for each thread that becomes live again.
	woken func(*run)
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
		intents: m.intents, environs: m.environs, index: m.index, starts: m.starts, checker: m.checker, open: m.open, merging: m.merging,
		recorder: recording.New(m.recording(), t.ID, told, turnPrompts{typist}, told),
	}
	l.forget = func() { m.drop(l) }
	typist.gives = func(id thread.PromptID) error { return promptGives(l, id) }
	typist.tells = func(p thread.Prompt) string { return promptTells(l, p) }
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

// load makes the threads in use live, and those that they were forked from. skip is told of those that cannot be.
func (m *registry) load(ctx context.Context, skip func(thread.Thread, error)) error {
	var list []thread.Thread
	there := map[thread.ID]bool{}
	err := thread.EachThread(ctx, m.cfg.Store, thread.Query{Use: thread.InUse}, func(t thread.Thread) error {
		if err := t.ID.Check(); err != nil {
			skip(t, err)
			return nil
		}
		list, there[t.ID] = append(list, t), true
		return nil
	})
	if err != nil {
		return err
	}
	used := len(list)
	for i := 0; i < len(list); i++ {
		if p := list[i].Parent; p != "" && !there[p] {
			there[p] = true
			if t, ok := m.shelf.thread(p); ok {
				list = append(list, t)
			}
		}
	}
	if len(list) > used { // otherwise they are as they were stored
		slices.Reverse(list[used:])
		list = slices.Concat(list[used:], list[:used])
		slices.SortStableFunc(list, func(a, b thread.Thread) int { return a.Created.Compare(b.Created) })
	}
	for _, t := range list {
		m.add(t)
	}
	return nil
}

// wake makes a thread live that is in the store only, with those that it was forked from; nil if it is gone.
func (m *registry) wake(id thread.ID) *run {
	var line []thread.Thread // upwards
	for at := id; at != "" && m.loaded(at) == nil; {
		t, ok := m.shelf.thread(at)
		if !ok || slices.ContainsFunc(line, func(o thread.Thread) bool { return o.ID == at }) {
			break
		}
		line, at = append(line, t), t.Parent
	}
	for _, t := range slices.Backward(line) {
		m.live(t)
	}
	return m.loaded(id)
}

// live makes a thread of the store live.
func (m *registry) live(t thread.Thread) {
	made := m.newRun(t)
	made.live.mu.Lock() // nobody sees it before it has a state
	_, added := m.insert(made)
	if added {
		made.live.show()
	}
	made.live.mu.Unlock()
	if !added {
		return
	}
	if _, ok := m.shelf.thread(t.ID); !ok { // purged since it was read
		m.drop(made)
		return
	}
	if m.woken != nil {
		m.woken(made)
	}
}

// look returns a thread as it is now, which becomes live by that no more than it is.
func (m *registry) look(id thread.ID) (thread.Thread, bool) {
	if l := m.loaded(id); l != nil {
		return l.live.thread(), true
	}
	return m.shelf.thread(id)
}

// status returns a thread that is not live as clients see it.
func (m *registry) status(t thread.Thread) thread.Status {
	if l := m.loaded(t.ID); l != nil {
		return l.live.current()
	}
	l := m.newRun(t).live
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown = l.state()
	return l.status()
}

// all returns the live runs, oldest first.
func (m *registry) all() []*run {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	lines := make([]*run, 0, len(m.index.order))
	for _, l := range m.index.order {
		lines = append(lines, m.byID[l.id])
	}
	return lines
}

// run returns a thread's run by its id, nil if there is none. It becomes live if it is not.
func (m *registry) run(id thread.ID) *run {
	if l := m.loaded(id); l != nil {
		return l
	}
	return m.wake(id)
}

// certain is run for who acts upon it that there is none: what the store does not tell now is an error.
func (m *registry) certain(ctx context.Context, id thread.ID) (*run, error) {
	if l := m.run(id); l != nil || id == "" {
		return l, nil
	}
	_, err := m.cfg.Store.Thread(ctx, id)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for thread %s: %w", id, err)
	}
	if l := m.run(id); l != nil { // the store answers again
		return l, nil
	}
	return nil, fmt.Errorf("thread %s cannot be used: %w", id, thread.ErrDamaged)
}

// loaded is run for a live thread.
func (m *registry) loaded(id thread.ID) *run {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	return m.byID[id]
}

// called returns a live thread's run by its id or its whole name, nil if there is none.
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
	if l := m.called(strings.TrimSpace(ref)); l != nil && l.live.is(among) {
		return l, nil
	}
	t, err := m.lookAmong(ref, among)
	if err != nil {
		return nil, err
	}
	if l := m.run(t.ID); l != nil {
		return l, nil
	}
	return nil, &thread.UnknownThreadError{Name: ref} // it was purged meanwhile
}

// lookFor is find for a thread that becomes live by that no more than it is.
func (m *registry) lookFor(ref string) (thread.Thread, error) {
	return m.lookAmong(ref, func(t *thread.Thread) bool { return t.Deleted.IsZero() })
}

func (m *registry) lookAmong(ref string, among func(*thread.Thread) bool) (t thread.Thread, err error) {
	ref = strings.TrimSpace(ref)
	if l := m.called(ref); l != nil && l.live.is(among) {
		return l.live.thread(), nil
	}
	if t, ok := m.shelf.named(ref); ok && m.loaded(t.ID) == nil && among(&t) {
		return t, nil
	}
	var all []thread.Thread
	for _, l := range m.all() {
		if t := l.live.thread(); among(&t) {
			all = append(all, t)
		}
	}
	live := len(all)
	take := func(list []thread.Thread) {
		for i := range list {
			if t := &list[i]; among(t) && m.loaded(t.ID) == nil && !slices.ContainsFunc(all[live:], func(o thread.Thread) bool { return o.ID == t.ID }) {
				all = append(all, *t)
			}
		}
	}
	take(m.shelf.beginning(ref))
	c := matching(ref, all)
	if len(c.begin)+len(c.called) == 0 {
		take(m.shelf.called(ref))
		c = matching(ref, all)
	}
	switch {
	case len(c.begin) == 1:
		return c.begin[0], nil
	case len(c.called) == 1:
		return c.called[0], nil
	case len(c.active) == 1:
		return c.active[0], nil // an archived thread of the same name is not meant
	case len(c.begin) > 1:
		return t, &thread.UnknownThreadError{Name: ref, Nearest: namesOf(c.begin, 5), Many: true}
	}
	return t, &thread.UnknownThreadError{Name: ref, Nearest: nearest(ref, all)}
}

// candidates are the threads that may be meant.
type candidates struct{ begin, active, called []thread.Thread }

func matching(ref string, all []thread.Thread) (c candidates) {
	for i := range all {
		t := &all[i]
		whole, begins := t.Called(ref)
		if whole {
			c.called = append(c.called, *t)
		}
		if ref != "" && (begins || strings.HasPrefix(t.Name, strings.ToLower(ref)) ||
			len(ref) >= shortestID && strings.HasPrefix(string(t.ID), ref)) {
			c.begin = append(c.begin, *t)
			if t.Archived.IsZero() {
				c.active = append(c.active, *t)
			}
		}
	}
	return c
}

func namesOf(list []thread.Thread, most int) []string {
	var names []string
	for _, t := range list[:min(most, len(list))] {
		names = append(names, t.Name)
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
