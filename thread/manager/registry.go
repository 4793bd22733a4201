package manager

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"weak"

	"orchestrator/thread"
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
	sessions *workSessions
	merging  *exclusive
	typing   *semaphore.Semaphore
	// answered is called for every recorded main response of every thread.
	answered func(ctx context.Context, l *liveThread, r recording.Response)
	// prompted is called with every prompt that a person typed in an agent itself.
	prompted func(l *liveThread, text string)

	shelf *shelf
	index *index
	byID  map[thread.ID]*run // guarded by index.mu, and has what index.live has
	// waking has the threads that are becoming live; each channel is closed when that has ended. Guarded by index.mu.
	waking map[thread.ID]chan struct{}
	// resting has the threads that were put to rest, for as long as somebody holds one: it becomes live again itself, so
	// that there never are two objects of a thread. Guarded by index.mu.
	resting map[thread.ID]weak.Pointer[run]
	// wakes reads what a thread needs that becomes live again, before anybody sees it. What it returns is called after that.
	wakes func(*run) (then func(), err error)
	// late has a thread's prompts looked at again after one was given, or was not, as its process ended.
	late func(*run)
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
		intents: m.intents, environs: m.environs, index: m.index, starts: m.starts, checker: m.checker, open: m.open, sessions: m.sessions, merging: m.merging,
		recorder: recording.New(m.recording(), t.ID, told, turnPrompts{typist}, told),
	}
	l.forget = func() { m.drop(l) }
	live.back = func() bool { return m.back(l) }
	typist.gives = func(id thread.PromptID, text string) error { return promptGives(l, id, text) }
	typist.tells = func(p thread.Prompt) string { return promptTells(l, p) }
	typist.given = func(id thread.PromptID, err error) {
		if m.late != nil {
			m.late(l)
		}
		promptGiven(l, id, err)
	}
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
	m.remove(l)
}

// remove removes a thread. index.mu is held.
func (m *registry) remove(l *run) {
	m.index.remove(l.live)
	delete(m.byID, l.live.id)
}

// rest has a thread be in the store only, from now on. Who holds it already may go on to use it: back.
func (m *registry) rest(l *run) {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	if m.byID[l.live.id] != l {
		return
	}
	m.remove(l)
	m.resting[l.live.id] = weak.Make(l)
	runtime.AddCleanup(l, m.forgotten, l.live.id)
}

// forgotten is called after nobody holds a thread any more that was put to rest.
func (m *registry) forgotten(id thread.ID) {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	if m.resting[id].Value() == nil {
		delete(m.resting, id)
	}
}

// back makes a thread live again that rests, for who holds it; false if it was purged.
func (m *registry) back(l *run) bool {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	if m.resting[l.live.id].Value() == l {
		m.returns(l)
	}
	return m.byID[l.live.id] == l
}

// returns makes a thread live that rests. index.mu is held.
func (m *registry) returns(l *run) {
	delete(m.resting, l.live.id)
	m.index.insert(l.live)
	m.byID[l.live.id] = l
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
			t, ok, err := m.shelf.thread(p)
			switch {
			case err != nil && !errors.Is(err, thread.ErrDamaged):
				return err
			case err != nil:
				m.cfg.Log.Warn("read the parent of a thread", "thread", string(list[i].ID), "err", err)
			case ok:
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
func (m *registry) wake(ctx context.Context, id thread.ID) (*run, error) {
	line := []thread.ID{id} // upwards
	for at := id; ; {
		t, ok, err := m.shelf.thread(at)
		if err != nil && (at == id || !errors.Is(err, thread.ErrDamaged)) {
			return nil, err
		}
		if at = t.Parent; !ok || at == "" || m.loaded(at) != nil || slices.Contains(line, at) {
			break
		}
		line = append(line, at)
	}
	for _, up := range slices.Backward(line[1:]) {
		if _, err := m.live(ctx, up); err != nil && !errors.Is(err, thread.ErrDamaged) {
			return nil, err
		}
	}
	return m.live(ctx, id)
}

// live makes a thread of the store live, nil if there is none. Of several that want it at once one does it, and the others
// wait: nobody gets a thread that has not all that it needs.
func (m *registry) live(ctx context.Context, id thread.ID) (*run, error) {
	end, l, err := m.beginWaking(ctx, id)
	if l != nil || err != nil {
		return l, err
	}
	defer end()
	t, ok, err := m.shelf.thread(id)
	if !ok {
		return nil, err
	}
	made := m.newRun(t)
	then := func() {}
	if m.wakes != nil {
		if then, err = m.wakes(made); err != nil {
			return nil, err
		}
	}
	made.live.mu.Lock() // nobody sees it before it has a state
	l, added := m.insert(made)
	if added {
		made.live.show()
	}
	made.live.mu.Unlock()
	if added {
		then()
	}
	return l, nil
}

// beginWaking begins to make a thread live, which end ends. It returns the thread if it is live by now, after somebody else
// has made it so, or because it was put to rest and somebody holds it.
func (m *registry) beginWaking(ctx context.Context, id thread.ID) (end func(), l *run, err error) {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	for {
		if l := m.byID[id]; l != nil {
			return nil, l, nil
		}
		if l := m.resting[id].Value(); l != nil {
			m.returns(l)
			return nil, l, nil
		}
		other := m.waking[id]
		if other == nil {
			break
		}
		m.index.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			err = fmt.Errorf("wait for thread %s: %w", id, ctx.Err())
		}
		m.index.mu.Lock()
		if err != nil {
			return nil, nil, err
		}
	}
	done := make(chan struct{})
	m.waking[id] = done
	return func() {
		m.index.mu.Lock()
		defer m.index.mu.Unlock()
		delete(m.waking, id)
		close(done)
	}, nil, nil
}

// look returns a thread as it is now, which becomes live by that no more than it is; false if there is none, or its record
// is damaged.
func (m *registry) look(id thread.ID) (thread.Thread, bool, error) {
	if l := m.loaded(id); l != nil {
		return l.live.thread(), true, nil
	}
	t, ok, err := m.shelf.thread(id)
	if errors.Is(err, thread.ErrDamaged) {
		return t, false, nil
	}
	return t, ok, err
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

// run is certain for who can do nothing about it if the store does not tell: then there is none.
func (m *registry) run(id thread.ID) *run {
	l, err := m.certain(m.work.ctx, id)
	if err != nil {
		m.cfg.Log.Warn("look for a thread", "thread", string(id), "err", err)
	}
	return l
}

// certain returns a thread's run by its id, nil if there is none. It becomes live if it is not. What the store does not
// tell now is an error.
func (m *registry) certain(ctx context.Context, id thread.ID) (*run, error) {
	if l := m.loaded(id); l != nil || id == "" {
		return l, nil
	}
	return m.wake(ctx, id)
}

// loaded is run for a live thread.
func (m *registry) loaded(id thread.ID) *run {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	return m.byID[id]
}
