package session

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/agent/runlog"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

const (
	// maxRunLine is the longest line that a Dialogue reads, in bytes: a tool may return a picture.
	maxRunLine = 8 << 20
	// maxErrLine is how much of a line of the standard error is passed on.
	maxErrLine = 4 << 10
	// maxErrRate is how many such lines are passed on in a second, maxErrBytes how much in all.
	maxErrRate  = 200
	maxErrBytes = 1 << 20
	// maxErrWords is how much of the last one says why a process has failed.
	maxErrWords = 300
	// defaultRunOutput is how much a process may print.
	defaultRunOutput = 64 << 20
)

// process is what a run needs of one.
type process interface {
	Write(b []byte) error
	CloseInput() error
}

// owner is what a run tells. It is called with the run's lock held.
type owner interface {
	// show prints on the screen.
	show(b []byte)
	// ends is told the last event.
	ends(e thread.RunEvent)
	// asks is told what the agent waits for an answer to, nil for nothing. It is told before the event is passed on.
	asks(q *thread.Question)
	// exceeds is told that the process has printed too much, in words for people.
	exceeds(reason string)
}

// run is what is said between us and a process without a terminal.
type run struct {
	on    func(thread.RunEvent)
	owner owner
	most  int64 // how much it may print
	cols  atomic.Int32
	raw   *raw          // set before the first use
	over  chan struct{} // closed after the last event

	// mu guards the rest and holds the order of what is said. Only the session's mu is taken under it, and that of the
	// process's input.
	mu       sync.Mutex
	proc     process
	dialogue thread.Dialogue
	log      runlog.Log
	picture  []byte // of the log, not shown yet
	out, err lines
	to       io.Writer // of raw
	printed  int64
	asked    bool
	asks     questions
	ended    bool
	closed   bool              // the input
	outcome  thread.RunOutcome // that it has, however the dialogue sees it; "" if that decides
	reason   string            // of the outcome

	errs struct { // lines of the standard error
		all    int       // bytes
		second time.Time // that recent counts
		recent int
		left   int // that were left out and not reported
		last   string
	}
}

// newRun returns the run of a session that is about to start.
func newRun(spec thread.SessionSpec, most int64, owner owner) *run {
	if most == 0 {
		most = defaultRunOutput
	}
	r := &run{
		on: spec.OnRun, owner: owner, most: most, over: make(chan struct{}), dialogue: spec.Dialogue, to: spec.Raw,
	}
	r.out = lines{most: maxRunLine, line: r.read, long: r.skipped}
	r.err = lines{most: maxErrLine, head: maxErrLine, line: r.complains, long: func(head []byte, _ int64) {
		r.complains(fmt.Appendf(nil, "%s\u2026", head))
	}}
	return r
}

// started is called once with the process, before anything else.
func (r *run) started(p process, cols int) {
	r.cols.Store(int32(cols)) //nolint:gosec // vterm.Bound
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proc, r.raw = p, newRaw(r.to)
	r.picture = append(r.picture, runlog.Start...)
	r.flush()
}

// wrote handles a piece of output.
func (r *run) wrote(b []byte) { r.take(b, &r.out) }

// erred handles a piece of the standard error.
func (r *run) erred(b []byte) { r.take(b, &r.err) }

func (r *run) take(b []byte, to *lines) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.printed
	r.printed += int64(len(b))
	if r.printed > r.most {
		if before > r.most {
			return
		}
		b = b[:r.most-before]
	}
	r.keep(b)
	to.write(b)
	if r.printed > r.most && r.outcome == "" {
		r.outcome, r.reason = thread.RunFailed, fmt.Sprintf("ended after it printed %s: limits.run_output_mb allows no more",
			thread.Bytes(r.most))
		r.owner.exceeds(r.reason)
	}
	r.flush()
}

// keep passes output on to who keeps it. mu is held.
func (r *run) keep(b []byte) {
	if lost := r.raw.write(b); lost != "" {
		r.emit(thread.RunEvent{Kind: thread.RunNotice, Text: lost})
	}
}

// read passes a line to the dialogue. mu is held.
func (r *run) read(line []byte) {
	if len(line) > 0 {
		_ = r.handle(r.dialogue.Read(line))
	}
}

// skipped reports a line that is too long to be read. mu is held.
func (r *run) skipped(_ []byte, n int64) {
	r.emit(thread.RunEvent{Kind: thread.RunNotice, Text: fmt.Sprintf("a line of %s was left out", thread.Bytes(n))})
}

// complains passes on a line of the standard error. mu is held.
func (r *run) complains(line []byte) {
	text := strings.ToValidUTF8(string(line), "\ufffd")
	if strings.TrimSpace(text) == "" {
		return
	}
	now := time.Now()
	e := &r.errs
	e.last = text
	if now.Sub(e.second) >= time.Second {
		e.second, e.recent = now, 0
		if e.all < maxErrBytes { // else once, at the end
			r.complainedMore()
		}
	}
	if e.recent >= maxErrRate || e.all >= maxErrBytes {
		e.left++
		return
	}
	e.recent++
	e.all += len(text)
	r.emit(thread.RunEvent{Kind: thread.RunLine, Text: text, Stderr: true})
}

// complainedMore says how many lines of the standard error were left out. mu is held.
func (r *run) complainedMore() {
	if n := r.errs.left; n > 0 {
		r.errs.left = 0
		r.emit(thread.RunEvent{Kind: thread.RunNotice, Text: plaintext.Count(n, "line") + " of its errors left out"})
	}
}

// begin asks the prompt.
func (r *run) begin(text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.asked:
		return &thread.NotReadyError{Reason: "a run takes one prompt"}
	case r.ended || r.outcome != "":
		return thread.ErrNotRunning
	}
	r.asked = true
	r.picture = r.log.AppendPrompt(r.picture, text, time.Now())
	err := r.handle(r.dialogue.Begin(text))
	r.flush()
	return err
}

// interrupt asks the process to end its turn, for a reason that is not its own. It returns whether only a signal does.
func (r *run) interrupt(reason string) (signal bool) {
	r.raw.hasten()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.outcome != "" {
		return false
	}
	r.outcome, r.reason = thread.RunCancelled, reason
	r.withdraw("it was cancelled")
	if !r.asked {
		r.closeInput()
		return false
	}
	said := r.dialogue.Interrupt()
	_ = r.handle(said) // if it takes nothing, it is stopped
	r.flush()
	return len(said.Write) == 0 && !said.Close
}

// finish handles the end of the process, after all its output. reason is set if it was ended for that, stopped if it was
// stopped by whoever owns it. It returns how many bytes the process has printed.
func (r *run) finish(code int, reason string, stopped bool) (printed int64) {
	r.rest()
	lost := r.raw.end() // nothing else is printed any more
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.outcome != "":
	case reason != "":
		r.outcome, r.reason = thread.RunFailed, reason
	case stopped:
		r.outcome, r.reason = thread.RunCancelled, "stopped"
	}
	if lost != "" {
		r.emit(thread.RunEvent{Kind: thread.RunNotice, Text: lost})
	}
	said := r.dialogue.End(code)
	for i := range said.Events {
		e := &said.Events[i]
		e.Gone = e.Kind == thread.RunEnd
		if e.Gone && e.Outcome == thread.RunFailed && code != 0 {
			e.Reason = r.words(e.Reason)
		}
	}
	_ = r.handle(said) // there is nobody to write to
	if !r.ended {
		what := fmt.Sprintf("it ended with code %d without a result", code)
		if code > 128 {
			what = fmt.Sprintf("it was killed by signal %d", code-128)
		}
		r.emit(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: r.words(what), Gone: true})
	}
	r.flush()
	return r.printed
}

// rest handles the last lines, which have no end.
func (r *run) rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.printed <= r.most {
		r.out.flush()
		r.err.flush()
	}
	r.complainedMore()
	r.flush()
}

// words adds what the process said last on its standard error to why it failed. mu is held.
func (r *run) words(reason string) string {
	last := strings.TrimSpace(plaintext.Cut(r.errs.last, maxErrWords))
	if last == "" || strings.Contains(reason, last) {
		return reason
	}
	if reason == "" {
		return last
	}
	return reason + ": " + last
}

// handle does what the dialogue says. The error is that of the input. mu is held.
func (r *run) handle(said thread.Said) (err error) {
	for _, e := range said.Events {
		r.emit(e)
	}
	if len(said.Write) > 0 && !r.closed {
		err = r.proc.Write(said.Write)
		if err != nil && !errors.Is(err, thread.ErrNotRunning) && r.asked {
			r.emit(thread.RunEvent{Kind: thread.RunNotice, Text: "it does not take what it is told: " + err.Error()})
		}
	}
	if said.Close || r.ended {
		r.closeInput()
	}
	return err
}

// closeInput ends the input, once. mu is held.
func (r *run) closeInput() {
	if !r.closed {
		r.closed = true
		_ = r.proc.CloseInput() // pipes can be closed
	}
}

// emit passes an event on. After the last one there are none; what still comes is shown only. mu is held.
func (r *run) emit(e thread.RunEvent) {
	e.At = time.Now()
	last := e.Kind == thread.RunEnd
	switch {
	case e.Kind == thread.RunAsks || e.Kind == thread.RunAnswered:
		if !r.follow(&e) {
			return
		}
	case last && r.ended:
		return
	case last && r.outcome != "" && e.Outcome != thread.RunCompleted:
		e.Outcome, e.Reason = r.outcome, r.reason
		if r.outcome == thread.RunCancelled {
			e.State, e.Status = "", 0
		}
	}
	if last {
		r.withdraw("the run has ended")
	}
	r.pass(e)
}

// pass is emit for an event as people are told it. mu is held.
func (r *run) pass(e thread.RunEvent) {
	r.log.Resize(int(r.cols.Load()))
	r.picture = r.log.Append(r.picture, e)
	if r.ended {
		return
	}
	last := e.Kind == thread.RunEnd
	r.ended = last
	if r.on != nil {
		r.on(e)
	}
	if last {
		r.owner.ends(e)
		close(r.over)
	}
}

// follow takes a question, or that one is answered, and gives the event the question as people see it. It reports whether
// that is news: what a run asks that is being ended is not. mu is held.
func (r *run) follow(e *thread.RunEvent) (news bool) {
	switch {
	case e.Question == nil || r.ended || r.outcome != "":
		return false
	case e.Kind == thread.RunAnswered:
		e.Question = r.asks.answered(e.Question.ID)
		news = e.Question != nil
	default:
		told, withdrawn, isNew := r.asks.ask(*e.Question, e.At)
		if withdrawn != nil {
			r.pass(thread.RunEvent{Kind: thread.RunAnswered, At: e.At, Question: withdrawn, Text: "it has changed", Failed: true})
		}
		e.Question, news = &told, isNew
	}
	if news {
		r.owner.asks(r.asks.first())
	}
	return news
}

// withdraw takes back all that is asked. mu is held.
func (r *run) withdraw(why string) {
	open := r.asks.all()
	if len(open) == 0 {
		return
	}
	r.owner.asks(nil)
	for _, q := range open {
		r.pass(thread.RunEvent{Kind: thread.RunAnswered, At: time.Now(), Question: &q.told, Text: why, Failed: true})
	}
}

// flush shows what the log has. mu is held.
func (r *run) flush() {
	r.owner.show(r.picture)
	if r.picture = r.picture[:0]; cap(r.picture) > keptLine {
		r.picture = nil
	}
}

// ready returns why no prompt is taken, nil if one is.
func (r *run) ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, steers := r.dialogue.(thread.Steerer)
	switch {
	case r.ended || r.outcome != "" || r.closed:
		return thread.ErrNotRunning
	case r.asked && !steers:
		return &thread.NotReadyError{Reason: "a run takes one prompt"}
	}
	return nil
}
