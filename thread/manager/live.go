package manager

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/activity"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/offers"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
)

// family is what a thread is told of the others.
type family interface {
	has(*liveThread) bool
	depth(parent thread.ID) int
	rename(l *liveThread, from, to string)
}

// liveThread is one thread with its current state. Slow work runs in its queue, one step after the other: recording
// answers, starting, stopping, rewinding. A step may take mu for a moment; it never waits for another thread's queue.
//
// The typist, which types the thread's prompts, and the run, which starts and stops its process, hold it. The run has a
// recording.Recorder, which stores the answers.
//
// Lock order: liveThread.reporting or outbox.mu, then queue.mu, then liveThread.mu, then index.mu or events.Bus.mu. Nobody
// takes the lock of a second thread while it holds that of one.
type liveThread struct {
	id       thread.ID
	cfg      *Config
	bus      *events.Bus
	work     *work
	environs *environs
	index    family
	parent   thread.ID // which it was forked from; never changes
	queue    queue
	back     func() bool // makes it live again if it rests; false if it was purged

	// reporting makes the check whether evidence is still current and the report to the session one step, so that the idle
	// of an old answer never overrides the working of a new request.
	reporting sync.Mutex

	// mu guards the fields below; it is held only for moments, never while a port is called.
	mu sync.Mutex

	t          thread.Thread
	execution  *thread.Execution
	session    thread.Session
	exit       *thread.Exit       // of the execution, from its end until it is recorded
	reported   thread.StateReport // by the session
	shown      thread.StateReport // to people; see show
	proof      *thread.ResumeProof
	published  *thread.Status
	requests   activity.Requests // main ones; the idle of an older answer does not count
	newer      chan struct{}     // closed when the next answer arrives; nil if nobody has asked since an answer was taken
	trouble    string            // why answers are not stored, while the store refuses them
	pending    int               // checkpoints that the store has refused so far
	unsaved    int               // those of them that are not in the spool either
	visibility visibility        // how much is known about what its program does
	aside      string            // why its program runs without the gateway, "" if it does not
	before     int               // requests before its program was started
	course     course            // of its newest turn
	ending     ending            // of its process
	polling    once              // a poll is queued
	searching  once              // a search for the answer to a prompt that went around the gateway is scheduled
	judging    once              // a check of the prompts that the agent took is scheduled
	awaiting   once              // waiting for the end of a limit
	settingUp  once              // its worktree's setup is running
	hooks      hookAsks          // of its agent
	asked      outbox.Glance     // what others see of the outbox
	offer      *thread.Offer     // the newest unanswered one
	last       string            // what its agent does or last said, as in thread.Status
	restart    string            // why its agent is started again once it waits; "" if it is not
	baseTold   string            // the profile to come of which a compaction was told
	merging    string            // the branch into which its merge waits for the person, "" for none
	sideCost   float64
	ahead      thread.Begun      // the main request in progress; its Context is 0 if none is, or if it is not known
	based      *basedStart       // until the first request of its program is seen; nil if there is nothing to check
	windows    map[string]int64  // from the agent's own configuration; replaced, never modified
	run        *thread.RunStatus // its newest execution, as it is listed; replaced, never modified
	runMade    time.Time         // when that was asked for
	proposal   *thread.Question  // whether an execution of it may start, nil if nothing waits for that
}

// enqueue adds a step; false when the manager has closed.
func (l *liveThread) enqueue(step func()) bool { return l.queue.enqueue(step) }

// do runs a use case as a step and waits for it. A step is not interrupted when its client disconnects: it uses the
// manager's own context.
func (l *liveThread) do(ctx context.Context, step func(ctx context.Context) error) error {
	done := make(chan error, 1)
	ok := l.enqueue(func() {
		if !l.back() {
			done <- fmt.Errorf("thread %s: %w", l.id, thread.ErrNotFound)
			return
		}
		done <- step(l.work.ctx)
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

// isGone reports whether the thread was purged.
func (l *liveThread) isGone() bool { return !l.index.has(l) }

// thread returns the thread as it is now.
func (l *liveThread) thread() thread.Thread {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t
}

// is reports whether a thread is as asked for, which copies nothing.
func (l *liveThread) is(what func(*thread.Thread) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return what(&l.t)
}

// running returns the session, nil if no process runs.
func (l *liveThread) running() thread.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// update changes the stored thread and publishes the change.
func (l *liveThread) update(ctx context.Context, change func(*thread.Thread) error) error {
	t, err := l.cfg.Store.UpdateThread(ctx, l.id, func(t *thread.Thread) error {
		if err := change(t); err != nil {
			return err
		}
		t.Updated = l.cfg.now()
		return nil
	})
	if err != nil {
		return err
	}
	l.set(t)
	return nil
}

// set takes over a thread that was read from or written to the store.
func (l *liveThread) set(t thread.Thread) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.t.Name; was != t.Name {
		l.index.rename(l, was, t.Name)
	}
	l.t = t
	l.show()
}

// reread reads the thread from the store again.
func (l *liveThread) reread(ctx context.Context) error {
	t, err := l.cfg.Store.Thread(ctx, l.id)
	if err != nil {
		return err
	}
	l.set(t)
	return nil
}

// markUnseen marks the thread as having an answer that nobody has seen.
func (l *liveThread) markUnseen(ctx context.Context) {
	if !l.thread().Seen {
		return
	}
	if err := l.update(ctx, func(t *thread.Thread) error { t.Seen = false; return nil }); err != nil {
		l.mu.Lock()
		l.t.Seen = false
		l.mu.Unlock()
	}
}

// report gives evidence to the session, if one runs.
func (l *liveThread) report(e thread.Evidence) {
	l.reporting.Lock()
	defer l.reporting.Unlock()
	if s := l.running(); s != nil {
		s.Report(e)
	}
}

// reportUnless gives evidence to the session unless another main request has started since.
func (l *liveThread) reportUnless(requests int, e thread.Evidence) {
	l.reporting.Lock()
	defer l.reporting.Unlock()
	l.mu.Lock()
	s, newer := l.session, l.requests.Begun() != requests
	l.mu.Unlock()
	if s != nil && !newer {
		s.Report(e)
	}
}

// later runs a step after a delay, unless the manager closes before.
func (l *liveThread) later(wait time.Duration, step func()) {
	if !l.work.begin() {
		return
	}
	go func() {
		defer l.work.done()
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
			l.enqueue(step)
		case <-l.work.closing.Done():
		}
	}()
}

// idle reports whether an archived thread has nothing that only memory has.
func (l *liveThread) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t.UsedNow() == thread.AtRest && l.session == nil && !l.requests.InFlight() && l.execution == nil && l.pending == 0 && l.unsaved == 0 &&
		l.settingUp != taken && l.offer == nil && l.merging == ""
}

// setup returns the setup state that people see. mu is held.
func (l *liveThread) setup() thread.Setup {
	if l.t.Setup.State == thread.SetupRuns && l.settingUp != taken {
		return thread.Setup{State: thread.SetupUnfinished}
	}
	return l.t.Setup
}

// status returns a thread as clients see it. mu is held.
func (l *liveThread) status() thread.Status {
	s := thread.Status{Thread: l.t, Seq: l.bus.Newest(), State: l.shown, Depth: l.index.depth(l.t.Parent)}
	s.Setup, s.Run = l.setup(), l.run
	if l.proposal != nil && l.session == nil && l.run.Waiting() {
		asks := *l.run
		asks.Asks, s.Run = true, &asks
	}
	s.RunsLines = l.cfg.runsLines(l.t.Agent)
	s.Around = l.course == aroundGateway || l.session != nil && l.visibility.direct()
	s.Gauge.CostUSD += l.sideCost
	if a := l.ahead; a.Context > 0 {
		s.Gauge.Tokens, s.Gauge.Estimated, s.Gauge.Margin, s.Gauge.Masked = a.Context, true, a.Margin, a.Masked
	}
	s.Usage.CostUSD, _ = s.Cost()
	if l.execution != nil {
		e := *l.execution
		s.Execution, s.Environ, s.Aside = &e, l.environs.use(l.id), l.aside
	}
	s.Offer = offers.Current(l.offer, s.Gauge.Share())
	s.Prompts, s.Queued = l.asked.Prompts, l.asked.Queued
	s.Last, s.Merging = l.last, l.merging
	if l.proof != nil && l.session == nil {
		p := proofWith(*l.proof, s.Prompts)
		s.Resume = &p
	}
	return s
}

// rests reports whether a thread that runs without a terminal has nothing to do.
func (l *liveThread) rests() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t.Once.On && l.execution == nil && l.run.Over()
}

// used returns what a thread has used so far, side requests included in the price.
func (l *liveThread) used() thread.Usage {
	s := l.current()
	u := s.Usage
	u.CostUSD, u.Priced = s.Cost()
	return u
}

// current returns a thread as clients see it.
func (l *liveThread) current() thread.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status()
}

// showNow is show for who does not hold mu.
func (l *liveThread) showNow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.show()
}

// show computes the state that people see and publishes it if anything changed. mu is held.
func (l *liveThread) show() {
	l.shown = l.state()
	s := l.status()
	if !l.t.Deleted.IsZero() {
		if l.published != nil {
			l.published = nil
			l.bus.Publish(thread.Event{At: l.cfg.now(), Kind: thread.EventRemoved, ThreadID: l.id})
		}
		return
	}
	if l.published != nil && same(*l.published, s) {
		return
	}
	l.published = &s
	told := s
	l.bus.Publish(thread.Event{At: l.cfg.now(), Kind: thread.EventThread, ThreadID: l.id, Status: &told})
}

// state returns a thread's state as people see it. mu is held.
func (l *liveThread) state() thread.StateReport {
	if q := l.proposal; l.session == nil && q != nil {
		return thread.StateReport{State: thread.StateApproval, Since: q.Since, Question: q, Evidence: []thread.Evidence{
			{Source: thread.SourcePrompt, State: thread.StateApproval, Detail: q.Words(), At: q.Since},
		}}
	}
	if l.session == nil {
		return activity.Stopped(l.t, l.proof, l.shown)
	}
	k := activity.Known{
		Reported: l.reported, Started: l.cfg.now(), Seen: l.t.Seen, Unstored: l.requests.Unstored(), Trouble: l.trouble,
		First: l.asked.First,
	}
	if l.execution != nil {
		k.Started = l.execution.Started
	}
	return activity.Running(k, l.shown)
}

// says shows what the agent does or has said, "" if that is not known.
func (l *liveThread) says(line string) {
	if line == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = line
	l.show()
}

// mergesInto shows into which branch a merge of the thread waits for the person, "" once it does not.
func (l *liveThread) mergesInto(branch string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.merging = branch
	l.show()
}

// same compares what clients see at a glance; the evidence behind a state is ignored, because it changes with every
// request.
func same(a, b thread.Status) bool {
	a.State.Evidence, b.State.Evidence = nil, nil
	a.Updated, b.Updated = time.Time{}, time.Time{}
	a.Seq, b.Seq = 0, 0
	return reflect.DeepEqual(a, b)
}

// proofWith returns the proof with the unanswered prompts.
func proofWith(p thread.ResumeProof, asked []thread.Prompt) thread.ResumeProof {
	p.Prompts = asked
	for _, a := range asked {
		if a.State == thread.PromptInterrupted && p.Incomplete == "" {
			p.Incomplete = fmt.Sprintf("prompt %s was not answered: %s", a.ID, plaintext.OneLine(a.Text, 60))
		}
	}
	return p
}

// unansweredEvidence is the evidence of an unanswered prompt.
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
