package manager

import (
	"context"
	"errors"
	"sync"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
	"orchestrator/thread/work/live"
)

// openRuns has the executions of this server's threads that have not ended, as they are stored. Each write to the store
// goes through here, so that lists, followers and the dispatcher learn of it.
//
// Lock order: mu, then liveThread.mu.
type openRuns struct {
	cfg   *Config
	index *index
	hub   *live.Hub
	// changed has a token when another execution may be able to start.
	changed chan struct{}
	// ended hears of each execution that has ended; it must not block. Set once, before Open.
	ended func(exec.Execution)
	// asking reports whether a request of an execution has not ended, also one that nobody has heard of yet. Set once, before
	// Open.
	asking func(exec.ID) bool
	// noted hears of each change of an execution's state; it must not block. Set once, before Open.
	noted func(exec.Execution)

	// writing has those who write an execution, by its id, take over what is stored in the order in which it was stored.
	// Taken before mu.
	writing [64]sync.Mutex

	mu       sync.Mutex // guards the fields below
	open     map[exec.ID]exec.Execution
	placed   map[exec.ID]bool // chosen to start, and not claimed yet
	reasons  map[exec.ID]string
	proposed map[exec.ID]*thread.Question // of those that wait for a person to agree
	last     time.Time                    // when the newest was created

	ways ways
}

func newOpenRuns(cfg *Config, index *index) *openRuns {
	return &openRuns{
		cfg: cfg, index: index, hub: &live.Hub{}, changed: make(chan struct{}, 1),
		open: map[exec.ID]exec.Execution{}, placed: map[exec.ID]bool{}, reasons: map[exec.ID]string{},
	}
}

// look has the dispatcher look what may start.
func (o *openRuns) look() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// put takes over an execution as it is stored, and tells of it. An older version changes nothing.
func (o *openRuns) put(x exec.Execution) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if x.Created.After(o.last) {
		o.last = x.Created
	}
	was, known := o.open[x.ID]
	if known && x.Fence < was.Fence {
		return
	}
	if x.State.Final() {
		delete(o.open, x.ID)
	} else {
		o.open[x.ID] = x
	}
	if x.State != exec.Queued {
		delete(o.reasons, x.ID)
	}
	if x.State != exec.Queued || x.Agreed {
		delete(o.proposed, x.ID)
	}
	o.show(x)
	if !known || was.State != x.State {
		o.hub.Report(x.ID, standing(x))
		o.noted(x)
	}
	if x.State.Final() {
		o.ways.forget(x.ID)
		o.hub.End(x.ID)
		o.ended(x)
	}
	o.look()
}

// past has a thread show an execution that ended before it became live; nothing follows on that.
func (o *openRuns) past(l *liveThread, x exec.Execution) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if x.Created.After(o.last) {
		o.last = x.Created
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o.newest(l, x)
}

// show shows an execution with its thread if it is its newest. mu is held.
func (o *openRuns) show(x exec.Execution) {
	l := o.index.other(x.Thread)
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o.newest(l, x)
	_, l.proposal = o.first(x.Thread)
	l.show()
}

// newest notes the newest execution of a thread. mu and that of the thread are held.
func (o *openRuns) newest(l *liveThread, x exec.Execution) {
	if x.Created.Before(l.runMade) {
		return
	}
	l.runMade = x.Created
	l.run = x.Status()
	if why := o.reasons[x.ID]; why != "" && x.State == exec.Queued {
		l.run.Reason = why
	}
}

// first returns what is asked about the oldest execution of a thread that waits for a person to agree, nil for nothing. mu is
// held.
func (o *openRuns) first(id thread.ID) (of exec.Execution, q *thread.Question) {
	for x, asks := range o.proposed {
		if y := o.open[x]; y.Thread == id && (q == nil || y.Created.Before(of.Created)) {
			of, q = y, asks
		}
	}
	return of, q
}

// asked is first for who does not hold mu.
func (o *openRuns) asked(id thread.ID) (exec.Execution, *thread.Question) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.first(id)
}

// propose asks about executions that wait for a person to agree, and about no others.
func (o *openRuns) propose(asks map[exec.ID]*thread.Question) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.proposed
	o.proposed = map[exec.ID]*thread.Question{}
	for id, q := range asks {
		if x, known := o.open[id]; known && x.State == exec.Queued && !x.Agreed {
			o.proposed[id] = q
		}
	}
	for id, x := range o.open {
		if was[id] != nil || o.proposed[id] != nil {
			o.show(x)
		}
	}
}

// waits notes why executions wait, and shows it where it changed. It is not stored: after a restart it is decided again.
func (o *openRuns) waits(list []exec.Waiting) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range list {
		x, known := o.open[w.ID]
		if !known || x.State != exec.Queued || o.reasons[w.ID] == w.Reason {
			continue
		}
		o.reasons[w.ID] = w.Reason
		o.show(x)
		x.Reason = w.Reason
		o.hub.Report(x.ID, standing(x))
	}
}

// standing is the piece that says how an execution stands.
func standing(x exec.Execution) thread.RunPiece {
	return thread.RunPiece{Execution: x.Name, Attempt: x.Attempt, State: string(x.State), Reason: x.Reason}
}

// report passes on what an agent reports of an execution. What a process says that is being ended is heard by nobody.
func (o *openRuns) report(id exec.ID, p thread.RunPiece) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x, known := o.open[id]
	if !known {
		return
	}
	o.hub.Report(id, p)
	if o.cfg.Runs.Reported != nil && p.Event != nil && x.Part.Round != 0 {
		o.cfg.Runs.Reported(id, *p.Event)
	}
}

// follow returns what an execution reports. The store is asked only about one that is not among the open ones; if it cannot
// say, nobody else who follows notices.
func (o *openRuns) follow(ctx context.Context, id exec.ID) (<-chan thread.Event, error) {
	listening, stop := context.WithCancel(ctx)
	events, known := o.join(listening, id)
	if known {
		context.AfterFunc(ctx, stop)
		return events, nil
	}
	x, err := o.cfg.Runs.Store.Execution(ctx, string(id))
	if err != nil {
		stop()
		return nil, err
	}
	if !x.State.Final() { // another server has it, or it is about to be taken over here
		context.AfterFunc(ctx, stop)
		return events, nil
	}
	stop()
	last, p := make(chan thread.Event, 1), standing(x)
	last <- thread.Event{Kind: thread.EventRun, Run: &p}
	close(last)
	return last, nil
}

// join has somebody follow an execution, and tells how it stands if it is among the open ones.
func (o *openRuns) join(ctx context.Context, id exec.ID) (events <-chan thread.Event, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x, known := o.open[id]
	if !known {
		return o.hub.Follow(ctx, id), false
	}
	if why := o.reasons[id]; why != "" && x.State == exec.Queued {
		x.Reason = why
	}
	return o.hub.Follow(ctx, id, standing(x)), true
}

// list returns the open executions, those that are about to be claimed as deployed, and each queued one with why it waits.
func (o *openRuns) list() []exec.Execution {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]exec.Execution, 0, len(o.open))
	for _, x := range o.open {
		if why := o.reasons[x.ID]; why != "" && x.State == exec.Queued {
			x.Reason = why
		}
		if o.placed[x.ID] {
			x.State = exec.Deployed
		}
		out = append(out, x)
	}
	return out
}

// why returns why an execution waits, "" if that is not known.
func (o *openRuns) why(id exec.ID) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reasons[id]
}

// of returns an open execution, false if it has ended or is not known.
func (o *openRuns) of(id exec.ID) (exec.Execution, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x, known := o.open[id]
	return x, known
}

// holding returns the execution of a thread that has a process, or is about to; false if none has.
func (o *openRuns) holding(id thread.ID) (exec.Execution, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, x := range o.open {
		if x.Thread == id && x.State.Holds() {
			return x, true
		}
	}
	return exec.Execution{}, false
}

// asks returns a prompt as one of a thread's agent, or of a person for "".
func (o *openRuns) asks(by thread.ID, p thread.Prompt) thread.Prompt {
	x, _ := o.holding(by)
	p.By, p.Within = by, string(x.ID)
	return p
}

// place reserves the place of an execution that is about to be claimed; false if it is not queued any more. Release ends
// that.
func (o *openRuns) place(id exec.ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if x, known := o.open[id]; !known || x.State != exec.Queued || o.placed[id] {
		return false
	}
	o.placed[id] = true
	return true
}

func (o *openRuns) release(id exec.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.placed, id)
}

// queued reports whether executions wait.
func (o *openRuns) queued() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, x := range o.open {
		if x.State == exec.Queued {
			return true
		}
	}
	return false
}

// anyOf reports whether a thread has an execution that has not ended.
func (o *openRuns) anyOf(id thread.ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, x := range o.open {
		if x.Thread == id {
			return true
		}
	}
	return false
}

// any reports whether executions have not ended.
func (o *openRuns) any() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.open) > 0
}

// add stores a queued execution, as created after those before it whatever the clock says. It is not known to the
// dispatcher before put.
func (o *openRuns) add(ctx context.Context, x exec.Execution) (exec.Execution, error) {
	o.mu.Lock()
	x.Created = o.cfg.now().Truncate(time.Microsecond)
	if !x.Created.After(o.last) {
		x.Created = o.last.Add(time.Microsecond)
	}
	o.last = x.Created
	o.mu.Unlock()
	return o.cfg.Runs.Store.Add(ctx, x)
}

// write lets nobody else write an execution until the function that it returns is called.
func (o *openRuns) write(id exec.ID) (end func()) {
	n := 0
	for _, c := range []byte(id) {
		n = 31*n + int(c)
	}
	m := &o.writing[uint(n)%uint(len(o.writing))]
	m.Lock()
	return m.Unlock
}

// reread takes over an execution as it is stored, after somebody else has written it.
func (o *openRuns) reread(ctx context.Context, id exec.ID) (exec.Execution, error) {
	defer o.write(id)()
	x, err := o.cfg.Runs.Store.Execution(ctx, string(id))
	if err == nil {
		o.put(x)
	}
	return x, err
}

// claim gives a queued execution to this server. If another one has it, it is forgotten here.
func (o *openRuns) claim(ctx context.Context, id exec.ID) (exec.Execution, error) {
	defer o.write(id)()
	x, err := o.cfg.Runs.Store.Claim(ctx, id, o.cfg.Runs.Server, o.cfg.now())
	if err == nil {
		o.put(x)
		return x, nil
	}
	if errors.Is(err, exec.ErrFence) || errors.Is(err, thread.ErrNotFound) {
		o.mu.Lock()
		delete(o.open, id)
		o.hub.End(id)
		o.mu.Unlock()
	}
	return x, err
}

// change changes a stored execution as its fence allows.
func (o *openRuns) change(
	ctx context.Context, id exec.ID, fence int64, change func(*exec.Execution) error, events ...exec.Event,
) (exec.Execution, error) {
	defer o.write(id)()
	x, err := o.cfg.Runs.Store.Change(ctx, id, fence, said(change), events...)
	if err == nil {
		o.put(x)
	}
	return x, err
}

// amend changes an execution that has ended and stays so: nothing follows on that. If it has not, the error is exec.ErrFence.
func (o *openRuns) amend(
	ctx context.Context, id exec.ID, fence int64, change func(*exec.Execution) error, events ...exec.Event,
) (exec.Execution, error) {
	defer o.write(id)()
	return o.cfg.Runs.Store.Change(ctx, id, fence, func(x *exec.Execution) error {
		if !x.State.Final() {
			return exec.ErrFence
		}
		return change(x)
	}, events...)
}

// supersede changes a stored execution whatever its fence is, and raises it.
func (o *openRuns) supersede(
	ctx context.Context, id exec.ID, change func(*exec.Execution) error, events ...exec.Event,
) (exec.Execution, error) {
	defer o.write(id)()
	x, err := o.cfg.Runs.Store.Supersede(ctx, id, said(change), events...)
	if err == nil {
		o.put(x)
	}
	return x, err
}

// end returns a change to a final state.
func ends(state exec.State, reason string, at time.Time) func(*exec.Execution) error {
	return func(x *exec.Execution) error {
		x.State, x.Reason, x.Ended = state, reason, at
		return nil
	}
}

// fails returns a change to Failed, with the failure that a cause is.
func fails(cause exec.Cause, reason string, at time.Time) func(*exec.Execution) error {
	return func(x *exec.Execution) error {
		x.State, x.Reason, x.Ended = exec.Failed, reason, at
		x.Failure = exec.Classify(exec.Ending{Cause: cause, Reason: reason}, at)
		return nil
	}
}

// said is a change after which the reason is one line for people: agents put addresses and keys into theirs.
func said(change func(*exec.Execution) error) func(*exec.Execution) error {
	return func(x *exec.Execution) error {
		err := change(x)
		x.Reason, x.Failure.What = line(x.Reason), line(x.Failure.What)
		return err
	}
}
