package manager

import (
	"context"
	"errors"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/runs"
	exec "orchestrator/thread/work"
)

// flushEvery is how often what an agent without a terminal reports is stored: a flood of pieces is a few transactions.
const flushEvery = time.Second

// attempt is one try of an execution: its process is about to start, runs, or has ended and is being recorded. A thread
// has at most one.
type attempt struct {
	id     exec.ID
	name   string
	prompt thread.PromptID
	fresh  bool // it begins without the thread's session
	open   *openRuns
	live   *liveThread
	output *runs.Output // of its process
	// staging guards token, which is that of the output.
	staging sync.Once
	token   thread.Token
	// starting ends when the start is not wanted any more, done once the end is recorded.
	starting context.Context
	unwanted context.CancelFunc
	done     chan struct{}
	time     *allowance // until its deadline; a part of asks

	mu       sync.Mutex // guards the fields below
	x        exec.Execution
	asks     pending
	given    given
	hands    once // what it is given is kept once
	record   runs.Record
	flushing once
	process  thread.ExecutionID
	started  time.Time
	files    fileState
	waited   int // for the end of a request
	// placed is set while it has a place of the witness, changed why it has failed by what was changed there; of the thread's
	// steps only.
	placed  bool
	changed string
	before  thread.Usage
	beside  thread.Usage // side requests, without their price
	decided *verdict     // what the store has not taken yet
	ending  bool         // what it has reported is stored with its end
	follows *verdict     // what follows on its loss or its failure
	// provider is how the newest request to the model ended, and answers how many were answered.
	provider exec.Provider
	answers  int
	insists  bool // its agent asks a provider that has failed again by itself
	bound    bound
}

func newAttempt(ctx context.Context, open *openRuns, l *liveThread, x exec.Execution, fresh bool) *attempt {
	a := &attempt{
		id: x.ID, name: x.Name, prompt: x.Prompt, fresh: fresh, open: open, live: l, done: make(chan struct{}), x: x,
		time: newAllowance(), record: runs.Record{Attempt: x.Attempt}, output: runs.NewOutput(l.work.ctx, open.cfg.Runs.Stage, x.Thread, x.Name),
	}
	a.asks.time = a.time
	a.bound = bound{calls: x.Calls, rereads: x.Rereads, reports: x.Reporting}
	a.starting, a.unwanted = context.WithCancel(ctx)
	return a
}

// execution returns it as it is stored.
func (a *attempt) execution() exec.Execution {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.x
}

// report takes what the agent reports. It does not block.
func (a *attempt) report(e thread.RunEvent) {
	a.mu.Lock()
	a.record.Add(e)
	a.asks.take(e)
	if e.Kind == thread.RunSteered {
		a.given.take(e.Text)
	}
	flush := e.Kind != thread.RunUsage && a.flushing.take()
	attempt := a.x.Attempt
	a.mu.Unlock()
	a.open.report(a.id, thread.RunPiece{Execution: a.name, Attempt: attempt, Event: &e})
	if e.Kind == thread.RunTool || e.Kind == thread.RunResult {
		a.reaches(false)
	}
	switch {
	case e.Kind == thread.RunEnd && !e.Gone: // if the server dies now, the next one knows that the work was done
		a.live.enqueue(a.flush)
	case flush:
		a.live.later(flushEvery, a.flush)
	}
}

// mostDenied is how many calls an agent that reports may try: each is denied, and it is told to report.
const mostDenied = 3

// mostUnread is how many calls an agent may have made that its output has not told yet.
const mostUnread = 2

// lastReturned is how long an agent has to note what its last call returned before it is stopped.
const lastReturned = 500 * time.Millisecond

// reaches stops it if what it has called takes it to its bound: at once if one call more has begun, or if it asks its model
// again, and soon if the last one has returned. It reports whether it is stopped. It does not block.
func (a *attempt) reaches(asks bool) bool {
	a.live.mu.Lock()
	asking := a.live.requests.InFlight()
	a.live.mu.Unlock()
	a.mu.Lock()
	b, c, most := &a.bound, &a.record.Calls, a.x.Caps.Calls
	over, used := c.Over(b.calls, most), c.Used(b.calls, most)
	switch {
	case a.x.Reporting:
		over, used = c.Made > mostDenied, false
	case asks:
		over = a.x.Caps.Calls > 0 && b.calls+c.Made >= most
	}
	now, soon := (over || used && asking) && !b.reached, used && !b.waits
	if b.stop == nil || a.record.End() != nil {
		now, soon = false, false
	}
	b.reached, b.waits = b.reached || now, b.waits || soon
	reached := b.reached
	a.mu.Unlock()
	switch {
	case now:
		b.stop()
	case soon && !reached:
		a.live.later(lastReturned, func() { a.reaches(true) })
	}
	return reached
}

// nears reports whether it may make so few calls more that some that it has made may not have been read yet.
func (a *attempt) nears() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	most := a.x.Caps.Calls
	return most > 0 && !a.x.Reporting && a.bound.calls+a.record.Calls.Made+mostUnread >= most
}

// count stores how much was called, with events.
func (a *attempt) count(ctx context.Context, events ...exec.Event) error {
	a.mu.Lock()
	was, t, beside := a.x, a.bound.tally(a.record.Calls), a.beside
	a.mu.Unlock()
	x, err := a.open.change(ctx, was.ID, was.Fence, func(x *exec.Execution) error {
		t.apply(x)
		x.Beside = beside
		return nil
	}, events...)
	if err == nil {
		a.took(x)
	}
	return err
}

// isReached reports whether it was stopped because of its bound, and for nothing else.
func (a *attempt) isReached() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bound.reached && a.decided == nil
}

// said is the last message of the agent as it was written.
func (a *attempt) said() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.record.Whole()
}

// note adds a remark of ours to the record.
func (a *attempt) note(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.record.Note(text, a.open.cfg.now())
}

// usedBeside counts what was used beside the conversation. Its price is in that of the thread.
func (a *attempt) usedBeside(u thread.Usage) {
	u.CostUSD, u.Priced = 0, false
	a.mu.Lock()
	a.beside = a.beside.Add(u)
	flush := a.flushing.take()
	a.mu.Unlock()
	if flush {
		a.live.later(flushEvery, a.flush)
	}
}

// flush is the step that stores what was reported.
func (a *attempt) flush() {
	a.mu.Lock()
	a.flushing.release()
	if a.ending {
		a.mu.Unlock()
		return
	}
	x, events, news := a.x, a.record.Take(), a.bound.tally(a.record.Calls).news(a.x) || a.beside != a.x.Beside
	a.mu.Unlock()
	var err error
	switch {
	case news:
		err = a.count(a.live.work.ctx, events...)
	case len(events) == 0:
		return
	default:
		err = a.open.cfg.Runs.Store.Append(a.live.work.ctx, x.ID, x.Fence, events...)
	}
	if err != nil { // its log and the thread have it all the same
		a.open.cfg.Log.Warn("store what a run reports", "execution", x.Name, "events", len(events), "err", err)
	}
}

// begun notes the process that is about to start, what the thread has used before, and whether it asks a provider that has
// failed again by itself.
func (a *attempt) begun(x thread.Execution, used thread.Usage, insists bool, files fileState) {
	dir := a.live.thread().Dir
	a.mu.Lock()
	defer a.mu.Unlock()
	a.process, a.started, a.before, a.insists, a.files = x.ID, x.Started, used, insists, files
	a.record.Calls.Dir = dir
}

// mostWaits is how often the end of a process is looked at again because a request of it has not ended.
const mostWaits = 20

// hurry has the record of the process's end wait for nothing.
func (a *attempt) hurry() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waited = mostWaits
}

// waits reports whether the record of the process's end has to wait for its last request.
func (a *attempt) waits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waited++
	return a.waited <= mostWaits
}

// become stores an open state of the process. It returns exec.ErrFence if the execution was taken away meanwhile.
func (a *attempt) become(ctx context.Context, state exec.State, reason string) error {
	return a.becomes(ctx, state, reason, nil)
}

// becomes is become with what the agent waits for an answer to.
func (a *attempt) becomes(ctx context.Context, state exec.State, reason string, q *thread.Question) error {
	a.mu.Lock()
	was, process, started, before, beside, files := a.x, a.process, a.started, a.before, a.beside, a.files
	a.mu.Unlock()
	if was.State.Final() {
		return exec.ErrFence
	}
	if was.State == state && was.Question.Is(q) {
		return nil
	}
	x, err := a.open.change(ctx, was.ID, was.Fence, func(x *exec.Execution) error {
		x.State, x.Reason, x.Process, x.Started, x.Before, x.Question = state, reason, process, started, before, q
		x.Waited, x.Beside = a.time.waited(), beside
		files.into(x)
		return nil
	})
	if err != nil {
		return err
	}
	a.took(x)
	failpoint.Hit("thread.exec." + string(state))
	return nil
}

// took takes over the execution as it is stored now, unless it has a newer version.
func (a *attempt) took(x exec.Execution) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x.Fence >= a.x.Fence {
		a.x = x
	}
}

// errOver is returned where an execution has ended already.
var errOver = errors.New("it has ended")

// stageLimit is how long the rest of a process's output may take to be stored.
const stageLimit = 5 * time.Second

// staged returns the token of what the process has printed, "" if that is not kept. It waits once.
func (a *attempt) staged(ctx context.Context) thread.Token {
	a.staging.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, stageLimit)
		defer cancel()
		var err error
		if a.token, err = a.output.End(ctx); err != nil { // the run has said so, and its log and the thread have what counts
			a.open.cfg.Log.Warn("stage the output of a run", "execution", a.name, "err", err)
		}
	})
	return a.token
}

// keep stores what the process has printed so far, in a row that stays open.
func (a *attempt) keep(ctx context.Context, exit thread.Exit) {
	x, output := a.execution(), a.staged(ctx)
	if output == "" {
		return
	}
	_, err := a.open.change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
		x.Output, x.Printed = output, x.Printed+exit.Printed
		return nil
	})
	if err != nil {
		a.open.cfg.Log.Warn("store the output of a run", "execution", x.Name, "err", err)
	}
}

// errCounted is returned where the end of an attempt is stored already: only the answer of the store was lost.
var errCounted = errors.New("it is stored already")
