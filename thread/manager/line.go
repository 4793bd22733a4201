package manager

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/share"
)

// roll is the list of all lines: what one thread has to know of the others. core.mu guards it.
type roll struct {
	*core
	lines map[thread.ID]*line
	order []thread.ID // oldest first
}

func newRoll(c *core) *roll { return &roll{core: c, lines: make(map[thread.ID]*line)} }

// enter adds a line. core.mu is held.
func (m *roll) enter(l *line) {
	m.lines[l.id] = l
	m.order = append(m.order, l.id)
}

// strike forgets a purged thread. core.mu is held.
func (m *roll) strike(l *line) {
	l.gone = true
	delete(m.lines, l.id)
	m.order = slices.DeleteFunc(m.order, func(id thread.ID) bool { return id == l.id })
}

// other returns a thread's line by its id, nil when there is none.
func (m *roll) other(id thread.ID) *line {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lines[id]
}

// line is one thread with what is true of it right now. What takes time happens in its work queue,
// one step after the other: recording answers, starting, stopping, rewinding. A step may take
// core.mu for a moment; it never waits for another line's queue.
//
// Three types stand on each other: a line; the typist, who types what the thread's agent was asked; and the run, which
// starts and ends its process and has a recording.Recorder make durable what it answers.
//
// Lock order: line.reporting or desk.mu, then queue.mu, then core.mu, then events.Bus.mu.
type line struct {
	*roll
	id thread.ID

	queue queue

	// reporting makes "is this still true" and the report to the session one step, so that an old
	// answer's idle never overtakes a new request's working.
	reporting sync.Mutex

	// The fields below are guarded by core.mu.

	t         thread.Thread
	gone      bool // purged
	execution *thread.Execution
	session   thread.Session
	exit      *thread.Exit       // of the execution, once it ended and was not recorded yet
	reported  thread.StateReport // by the session
	shown     thread.StateReport // to people, see show
	proof     *thread.ResumeProof
	published *thread.Status
	requests  activity.Requests // main ones; an older answer's idle does not count
	trouble   string            // why they are not, while the store refuses
	pending   int               // checkpoints that the store has refused so far
	unsaved   int               // those of them that the spool does not have either
	sight     sight             // how much is seen of what its program does
	polling   bool              // a poll is queued
	stopping  bool              // we asked it to end
	amid      bool              // it ended while it worked
	judging   bool              // what the agent took is looked at after a while
	awaiting  bool              // the end of a limit is waited for
	asked     outbox.Glance     // what others see of the desk
	offer     *thread.Offer     // the newest that nobody answered
	sideCost  float64
	windows   map[string]int64 // that the agent is configured with; replaced, never changed

	furnishing bool // its worktree's setup runs
}

// enqueue adds a step; false when the manager has closed.
func (l *line) enqueue(step func()) bool { return l.queue.enqueue(step) }

// depth counts the ancestors from parent on; purged ones do not count. core.mu is held.
func (m *roll) depth(parent thread.ID) int {
	n := 0
	for n <= len(m.lines) {
		l := m.lines[parent]
		if l == nil {
			break
		}
		n++
		parent = l.t.Parent
	}
	return n
}

// sessionTaken reports whether another thread has a session.
func (m *roll) sessionTaken(id thread.ID, session string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.lines {
		if other.id != id && other.t.Session == session {
			return true
		}
	}
	return false
}

// threads are all threads, oldest first. core.mu is held while they are taken.
func (m *roll) threads() iter.Seq[thread.Thread] {
	return func(yield func(thread.Thread) bool) {
		for _, id := range m.order {
			if !yield(m.lines[id].t) {
				return
			}
		}
	}
}

// sharing names the threads in use that work on the same files as one does. core.mu is held.
func (m *roll) sharing(t thread.Thread) []string {
	return thread.NamesOf(thread.NewFolders(m.cfg.Project, m.threads()).With(t))
}

// besides is sharing for a thread that is in use or not.
func (m *roll) besides(t thread.Thread) []string {
	t.Archived, t.Deleted, t.Outcome = time.Time{}, time.Time{}, thread.Outcome{}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sharing(t)
}

// together returns the other threads whose files are a thread's too, those included that are not in use any more:
// what they wrote is still there.
func (m *roll) together(t thread.Thread) []thread.Thread {
	m.mu.Lock()
	defer m.mu.Unlock()
	var others []thread.Thread
	at := share.Place{Dir: t.Dir, Worktree: t.Worktree.Path}
	for o := range m.threads() {
		if o.ID != t.ID && share.Together(m.cfg.Project, at, share.Place{Dir: o.Dir, Worktree: o.Worktree.Path}) {
			others = append(others, o)
		}
	}
	return others
}

// do runs a use case as a step and waits for it. A client that leaves does not cut it in half:
// the step has the manager's own context.
func (l *line) do(ctx context.Context, step func(ctx context.Context) error) error {
	done := make(chan error, 1)
	ok := l.enqueue(func() {
		if l.isGone() {
			done <- fmt.Errorf("thread %s: %w", l.id, thread.ErrNotFound)
			return
		}
		done <- step(l.ctx)
	})
	if !ok {
		return errClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the thread: %w", ctx.Err())
	}
}

func (l *line) isGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// thread returns the thread as it is now.
func (l *line) thread() thread.Thread {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t
}

// running returns the session, nil when no process runs.
func (l *line) running() thread.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// update changes the stored thread and shows what came of it.
func (l *line) update(ctx context.Context, change func(*thread.Thread) error) error {
	t, err := l.cfg.Store.UpdateThread(ctx, l.id, func(t *thread.Thread) error {
		if err := change(t); err != nil {
			return err
		}
		t.Updated = l.now()
		return nil
	})
	if err != nil {
		return err
	}
	l.set(t)
	return nil
}

// set takes over a thread that was read from or written to the store.
func (l *line) set(t thread.Thread) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t = t
	l.show()
}

// reread takes over the thread as the store has it.
func (l *line) reread(ctx context.Context) error {
	t, err := l.cfg.Store.Thread(ctx, l.id)
	if err != nil {
		return err
	}
	l.set(t)
	return nil
}

// markUnseen notes that there is an answer that nobody has looked at.
func (l *line) markUnseen(ctx context.Context) {
	if !l.thread().Seen {
		return
	}
	if err := l.update(ctx, func(t *thread.Thread) error { t.Seen = false; return nil }); err != nil {
		l.mu.Lock()
		l.t.Seen = false
		l.mu.Unlock()
	}
}

// report tells the session evidence; nothing when none runs.
func (l *line) report(e thread.Evidence) {
	l.reporting.Lock()
	defer l.reporting.Unlock()
	if s := l.running(); s != nil {
		s.Report(e)
	}
}

// reportUnless tells the session evidence unless another main request has begun since.
func (l *line) reportUnless(requests int, e thread.Evidence) {
	l.reporting.Lock()
	defer l.reporting.Unlock()
	l.mu.Lock()
	s, newer := l.session, l.requests.Begun() != requests
	l.mu.Unlock()
	if s != nil && !newer {
		s.Report(e)
	}
}

// later runs a step after a while, unless the manager closes before.
func (l *line) later(wait time.Duration, step func()) {
	if !l.begin() {
		return
	}
	go func() {
		defer l.done()
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
			l.enqueue(step)
		case <-l.closing:
		}
	}()
}

// setup is a thread's as people see it. core.mu is held.
func (l *line) setup() thread.Setup {
	if l.t.Setup.State == thread.SetupRuns && !l.furnishing {
		return thread.Setup{State: thread.SetupUnfinished}
	}
	return l.t.Setup
}

// status returns what clients show of a thread. core.mu is held.
func (l *line) status() thread.Status {
	s := thread.Status{Thread: l.t, Seq: l.bus.Newest(), State: l.shown, Depth: l.depth(l.t.Parent)}
	s.Setup = l.setup()
	s.Gauge.CostUSD += l.sideCost
	s.Usage.CostUSD, _ = s.Cost()
	if l.execution != nil {
		e := *l.execution
		s.Execution = &e
	}
	s.Offer = l.offer
	s.Prompts, s.Queued = l.asked.Prompts, l.asked.Queued
	if l.proof != nil && l.session == nil {
		p := proofWith(*l.proof, s.Prompts)
		s.Resume = &p
	}
	return s
}

// current returns what clients show of a thread.
func (l *line) current() thread.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status()
}

// show works out what a thread's state is to people and publishes it when anything changed.
// core.mu is held.
func (l *line) show() {
	l.shown = l.state()
	s := l.status()
	if !l.t.Deleted.IsZero() {
		if l.published != nil {
			l.published = nil
			l.bus.Publish(thread.Event{At: l.now(), Kind: thread.EventRemoved, ThreadID: l.id})
		}
		return
	}
	if l.published != nil && same(*l.published, s) {
		return
	}
	l.published = &s
	told := s
	l.bus.Publish(thread.Event{At: l.now(), Kind: thread.EventThread, ThreadID: l.id, Status: &told})
}

// state returns a thread's state as people may see it. core.mu is held.
func (l *line) state() thread.StateReport {
	if l.session == nil {
		return activity.Still(l.t, l.proof, l.shown)
	}
	k := activity.Known{
		Reported: l.reported, Started: l.now(), Seen: l.t.Seen, Unstored: l.requests.Unstored(), Trouble: l.trouble, First: l.asked.First,
	}
	if l.execution != nil {
		k.Started = l.execution.Started
	}
	return activity.Running(k, l.shown)
}

// same compares what clients see at a glance; the evidence behind a state is left out, because it
// is renewed with every request.
func same(a, b thread.Status) bool {
	a.State.Evidence, b.State.Evidence = nil, nil
	a.Updated, b.Updated = time.Time{}, time.Time{}
	a.Seq, b.Seq = 0, 0
	return reflect.DeepEqual(a, b)
}

// proofWith returns the proof with prompts that have no answer.
func proofWith(p thread.ResumeProof, asked []thread.Prompt) thread.ResumeProof {
	p.Prompts = asked
	for _, a := range asked {
		if a.State == thread.PromptInterrupted && p.Incomplete == "" {
			p.Incomplete = fmt.Sprintf("prompt %s was not answered: %s", a.ID, plaintext.OneLine(a.Text, 60))
		}
	}
	return p
}

// unansweredEvidence tells of a prompt without an answer.
func unansweredEvidence(p thread.Prompt) thread.Evidence {
	detail := fmt.Sprintf("%s is %s", p.ID, p.State)
	if p.Reason != "" {
		detail += ", " + p.Reason
	}
	at := p.Accepted
	for _, t := range []time.Time{p.Opened, p.Ended} {
		if t.After(at) {
			at = t
		}
	}
	return thread.Evidence{Source: thread.SourcePrompt, Detail: detail + ": " + plaintext.OneLine(p.Text, 100), At: at}
}
