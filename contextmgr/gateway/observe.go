package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/plaintext"
)

// observation is what is learned about one request beside its stream. A nil one observes nothing. Until end is called,
// it belongs to the handler's goroutine, then to the route's queue; started is read by the queue only.
type observation struct {
	w     *watcher
	rt    *route
	codec wire.Codec
	call  wire.Call // as the agent sent it, but for the header's Content-Encoding
	in    seen
	held  *hold

	started   time.Time
	ended     time.Time
	status    int
	encoding  []string // of the answer
	kind      string   // its content type
	answer    wire.Answer
	unpacking *unpacking // decodes the content; nil if it is not encoded
	speech    *speech
	uncounted int64 // bytes of the answer that are not counted in held yet
	over      bool  // unpacking did not get everything
	full      bool  // too much is held to read on
	broken    bool  // the codec panicked
	cannot    error // why an answer that may be complete could not be read
	damaged   bool  // the answer's own bytes cannot be unpacked
	result    *wire.Result
	err       error

	// request is set by the queue's goroutine before anything is reported.
	request  wire.Request
	announce func() // queues the report of the start, once
	timer    *time.Timer
	progress *progress
	until    time.Time // when a limit ends, from the answer's header
	upstream string
	quotas   []thread.Quota
}

// startDelay is how long the reading of a request is delayed, at most until its end: it must not compete with sending
// the request and with the answer's first bytes.
const startDelay = 20 * time.Millisecond

// watcher observes requests beside their streams.
type watcher struct {
	opts     *Options
	calls    *calls
	memory   *memory
	limiter  *limiter
	unpacker *unpacker
}

// seen is a request as the agent sent it: its body, the body without compression if it was unpacked or why it could not
// be, what is sent in its place, and what is held back for it.
type seen struct {
	body, plain []byte
	unreadable  error
	rewritten   Rewritten
	hold        *budget.Hold
}

// watch begins to observe a request. The queue reads the body, while the request is sent upstream.
func (w *watcher) watch(rt *route, codec wire.Codec, out *http.Request, in seen, held *hold) *observation {
	o := &observation{
		w: w, rt: rt, codec: codec, in: in, held: held, started: time.Now(),
		call:   wire.Call{Path: out.URL.Path, Query: out.URL.RawQuery, Header: out.Header.Clone(), Body: in.body},
		speech: &speech{rt: rt}, progress: &progress{rt: rt},
	}
	o.announce = sync.OnceFunc(func() {
		rt.queue.add(func() {
			o.read()
			o.request.Purpose = rt.purpose(o.request)
			main := o.request.Purpose == wire.PurposeMain
			again := main && rt.last.again(o.request.Items)
			rt.observer.RequestStarted(rt.id, thread.Begun{
				Main: main, Sub: o.sub(), Model: o.request.Model, At: o.started, Again: again, Prompt: o.request.Prompt,
				Stale:   o.stale(),
				Context: o.in.rewritten.Context, Margin: o.in.rewritten.Margin, Masked: o.in.rewritten.Masked,
			})
			o.progress.began(main, again)
			o.speech.begin(main, o.said())
		})
	})
	o.progress.start(w.opts.ConnectSlow, o.late)
	o.timer = time.AfterFunc(startDelay, o.announceCounted)
	return o
}

// sub is the sub-agent that asks, the zero value for any other request.
func (o *observation) sub() thread.SubAgent {
	if o.request.Purpose != wire.PurposeSubagent {
		return thread.SubAgent{}
	}
	return o.request.Sub
}

// said is what the person said since the model last spoke; stale reports whether there is only what was said before.
func (o *observation) said() string {
	if o.request.Fresh {
		return plaintext.Cut(o.request.Prompt, thread.MaxSaid)
	}
	return ""
}

func (o *observation) stale() bool { return o.request.Prompt != "" && !o.request.Fresh }

// announceCounted reports the start from the timer's goroutine, unless the gateway is closed.
func (o *observation) announceCounted() {
	if o.w.calls.enter() {
		defer o.w.calls.Done()
		o.announce()
	}
}

// late is called by the progress's timer: there may be no answer yet.
func (o *observation) late() {
	stage, none := o.progress.late(o.w.opts.AnswerSlow - time.Since(o.started))
	if !none || !o.w.calls.enter() {
		return
	}
	defer o.w.calls.Done()
	o.announce()
	o.progress.tellLate(stage, time.Now())
}

// read parses the request. A body that cannot be read counts as a side request: it was forwarded all the same.
func (o *observation) read() {
	defer func() {
		if p := recover(); p != nil {
			o.w.opts.Log.Error("reading a request panicked", "wire", o.codec.Wire(), "type", fmt.Sprintf("%T", p))
			o.request = wire.Request{Purpose: wire.PurposeOther}
		}
	}()
	if o.in.rewritten.Request != nil {
		o.request = *o.in.rewritten.Request
		return
	}
	if enc := codings(o.call.Header["Content-Encoding"]); o.in.plain != nil {
		o.call.Body = o.in.plain
	} else if len(enc) > 0 {
		plain, err := []byte(nil), o.in.unreadable
		if err == nil {
			plain, err = o.w.unpacker.body(context.Background(), o.held, enc, o.in.body)
		}
		if err != nil {
			o.unread("a request", err)
			o.request = wire.Request{Purpose: wire.PurposeOther}
			return
		}
		o.call.Body = plain
	}
	req, err := o.codec.Request(o.call)
	if err != nil {
		o.w.opts.Log.Debug("request was not understood", "wire", o.codec.Wire())
	}
	o.request = req
}

// errLarge means that an answer is larger than what is kept of one.
var errLarge = fmt.Errorf("it is larger than %d MB", wire.MaxAnswer>>20)

// bounded reports whether a body could not be unpacked because we do not read as much, or not in that coding: whoever it
// is for can. Otherwise its own bytes are damaged.
func bounded(err error) bool {
	for _, ours := range []error{
		errBomb, errLarge, errFull, thread.ErrUnsupported, zstd.ErrWindowSizeExceeded, zstd.ErrDecoderSizeExceeded,
	} {
		if errors.Is(err, ours) {
			return true
		}
	}
	return false
}

// unread reports, once per thread, that a part of its traffic cannot be read.
func (o *observation) unread(what string, err error) {
	o.w.opts.Log.Warn("traffic cannot be read",
		"thread", string(o.rt.id), "what", what, "wire", o.codec.Wire(), "err", err)
	if o.rt.shown.due("unread "+what, time.Now(), 0) {
		o.rt.notice(thread.LevelWarn, fmt.Sprintf("%s of this thread was forwarded but cannot be read: %v. "+
			"Its content is missing from the record until the next request contains it", what, err))
	}
}

// begin records the answer's header.
func (o *observation) begin(resp *http.Response) {
	if o == nil {
		return
	}
	o.status = resp.StatusCode
	o.progress.answered(o.status)
	o.until = limitEnds(o.status, resp.Header, time.Now())
	if resp.Request != nil && resp.Request.URL != nil {
		o.upstream = resp.Request.URL.Host
	}
	o.quotas = quotas(o.upstream, resp.Header, time.Now())
	o.encoding = codings(resp.Header["Content-Encoding"])
	o.kind = resp.Header.Get("Content-Type")
	o.safely(func() { o.answer = o.codec.Answer(o.status, o.kind) })
	if o.broken {
		return
	}
	o.speech.listen(o.answer)
	if len(o.encoding) > 0 {
		o.unpacking = newUnpacking(o.w.unpacker.growing(answerWriter{o}, o.held), o.encoding)
	}
}

// safely keeps a codec's panic from reaching the stream.
func (o *observation) safely(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			o.broken = true
			o.w.opts.Log.Error("reading an answer panicked", "wire", o.codec.Wire(), "type", fmt.Sprintf("%T", p))
		}
	}()
	if !o.broken {
		fn()
	}
}

// write observes a piece of the answer after it was forwarded.
func (o *observation) write(b []byte) {
	switch {
	case o == nil, o.full:
	case o.unpacking != nil:
		switch {
		case !o.count(int64(len(b))):
			o.full = true
			o.unpacking.in.end()
		case !o.unpacking.in.put(b):
			o.over = true
		}
	case o.broken:
	case !o.count(int64(len(b))):
		o.full = true
	default:
		o.feed(b)
	}
}

// feed passes plain bytes of the answer to its reader, and the text in them to the queue.
func (o *observation) feed(b []byte) {
	o.safely(func() {
		o.answer.Write(b)
		o.speech.take()
	})
}

// answerWriter passes a decoded answer to its reader.
type answerWriter struct{ o *observation }

func (w answerWriter) Write(b []byte) (int, error) {
	w.o.feed(b)
	return len(b), nil
}

// countStep is how many bytes of an answer are held before they are counted.
const countStep = 64 << 10

// count counts n bytes of the answer as held, and reports whether they are within the limit.
func (o *observation) count(n int64) bool {
	if o.uncounted += n; o.uncounted < countStep {
		return true
	}
	n, o.uncounted = o.uncounted, 0
	return o.held.force(n)
}

// cutWithoutNotice reports whether an answer without a length or chunks, which ends with its connection, ended too
// early: HTTP does not show it.
func (o *observation) cutWithoutNotice(resp *http.Response) bool {
	delimited := resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor != 1
	if o == nil || delimited || len(o.encoding) > 0 || o.status >= 300 {
		return false
	}
	r := o.outcome()
	return !o.broken && !r.Complete
}

// outcome returns the result in the answer.
func (o *observation) outcome() wire.Result {
	if o.result != nil {
		return *o.result
	}
	var r wire.Result
	var err error
	if o.unpacking != nil {
		err = o.unpacking.wait()
	}
	o.safely(func() {
		if o.answer == nil {
			return
		}
		switch {
		case o.full:
			err = errFull
		case o.over:
			err = errLarge
		}
		r = o.answer.Result()
		switch {
		case err == nil || r.Complete || o.err != nil:
		case bounded(err):
			o.cannot = err
			r.Err = "the answer cannot be read: " + err.Error()
		default: // the agent cannot read it either
			o.damaged = true
			r.Err = "the answer is damaged: " + err.Error()
		}
	})
	if o.broken {
		r = wire.Result{Err: "the answer was not understood"}
	}
	o.result = &r
	return r
}
