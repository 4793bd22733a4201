package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// observation is what is learned of one request beside its stream. A nil one observes nothing.
// Until end it belongs to the handler's goroutine, then to the route's queue; started is read by
// the queue only.
type observation struct {
	w     *watcher
	rt    *route
	codec wire.Codec
	call  wire.Call
	body  []byte
	held  *hold

	started   time.Time
	ended     time.Time
	status    int
	encoding  []string // of the answer
	kind      string   // its content type
	answer    wire.Answer
	unpacking *unpacking // takes the codings off; nil without any
	speech    *speech
	uncounted int64 // bytes of the answer that held does not count yet
	over      bool  // not all was given to unpacking
	full      bool  // too much was held to read on
	broken    bool  // the codec panicked
	cannot    error // why the answer could not be read though it came whole
	result    *wire.Result
	err       error

	// request is filled in by the queue's goroutine, before anything is told.
	request  wire.Request
	announce func() // puts the start into the queue, once
	timer    *time.Timer
	progress *progress
	until    time.Time // when a limit ends, by the answer's header
	upstream string
	quotas   []thread.Quota
}

// startDelay is how long reading a request waits, at most until its end: it must not compete with
// the request's own way upstream and the answer's first bytes.
const startDelay = 20 * time.Millisecond

// watcher watches requests beside their streams.
type watcher struct {
	opts    *Options
	calls   *calls
	budget  *budget
	limiter *limiter
}

// watch begins to watch a request. Reading the body is left to the queue, beside the way
// upstream.
func (w *watcher) watch(rt *route, codec wire.Codec, out *http.Request, body []byte, held *hold) *observation {
	o := &observation{
		w: w, rt: rt, codec: codec, body: body, held: held, started: time.Now(),
		call:   wire.Call{Path: out.URL.Path, Query: out.URL.RawQuery, Header: out.Header.Clone(), Body: body},
		speech: &speech{rt: rt}, progress: &progress{rt: rt},
	}
	o.announce = sync.OnceFunc(func() {
		rt.queue.add(func() {
			o.read()
			main := o.request.Purpose == wire.PurposeMain
			again := main && rt.last.again(o.request.Items)
			rt.observer.RequestStarted(rt.id, thread.Begun{
				Main: main, Model: o.request.Model, At: o.started, Again: again, Prompt: o.request.Prompt,
			})
			o.progress.began(main, again)
			o.speech.begin(main)
		})
	})
	o.progress.start(w.opts.ConnectSlow, o.late)
	o.timer = time.AfterFunc(startDelay, o.announceCounted)
	return o
}

// announceCounted announces from the timer's goroutine, unless the gateway is closed.
func (o *observation) announceCounted() {
	if o.w.calls.enter() {
		defer o.w.calls.Done()
		o.announce()
	}
}

// late is the progress's timer: there may be no answer yet.
func (o *observation) late() {
	stage, none := o.progress.late(o.w.opts.AnswerSlow - time.Since(o.started))
	if !none || !o.w.calls.enter() {
		return
	}
	defer o.w.calls.Done()
	o.announce()
	o.progress.tellLate(stage, time.Now())
}

// read parses the request. A body that cannot be read is a side request: it passed all the same.
func (o *observation) read() {
	defer func() {
		if p := recover(); p != nil {
			o.w.opts.Log.Error("reading a request panicked", "wire", o.codec.Wire(), "type", fmt.Sprintf("%T", p))
			o.request = wire.Request{Purpose: wire.PurposeOther}
		}
	}()
	if enc := codings(o.call.Header["Content-Encoding"]); len(enc) > 0 {
		var plain bytes.Buffer
		err := unpack(counter{&plain, o.held}, enc, bytes.NewReader(o.body), o.w.opts.MaxBody)
		if err != nil {
			o.unread("a request", err)
			o.request = wire.Request{Purpose: wire.PurposeOther}
			return
		}
		o.call.Body = plain.Bytes()
	}
	req, err := o.codec.Request(o.call)
	if err != nil {
		o.w.opts.Log.Debug("request was not understood", "wire", o.codec.Wire())
	}
	o.request = req
}

// counter counts what is written as held, and takes no more than may be.
type counter struct {
	to interface{ Write(b []byte) (int, error) }
	h  *hold
}

func (c counter) Write(b []byte) (int, error) {
	if !c.h.force(int64(len(b))) {
		return 0, errFull
	}
	return c.to.Write(b)
}

// errLarge says that an answer is more than is held of one.
var errLarge = fmt.Errorf("it is larger than %d MB", wire.MaxAnswer>>20)

// errFull says that too much was held to read on.
var errFull = errors.New("too much memory is in use to read it")

// unread says once of a thread that something of its traffic cannot be read.
func (o *observation) unread(what string, err error) {
	o.w.opts.Log.Warn("traffic cannot be read",
		"thread", string(o.rt.id), "what", what, "wire", o.codec.Wire(), "err", err)
	if o.rt.told.again("unread "+what, time.Now(), 0) {
		o.rt.notice(thread.LevelWarn, fmt.Sprintf("%s of this thread passed but cannot be read: %v. "+
			"What it says is missing in the record until the next request brings it again", what, err))
	}
}

// begin is told the answer's header.
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
		o.unpacking = newUnpacking(answerWriter{o}, o.encoding)
	}
}

// safely keeps a codec's panic away from the stream.
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

// write is told a piece of the answer after it was sent on.
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
		o.hear(b)
	}
}

// hear gives plain bytes of the answer to its reader, and what they say to the queue.
func (o *observation) hear(b []byte) {
	o.safely(func() {
		o.answer.Write(b)
		o.speech.take()
	})
}

// answerWriter gives an unpacked answer to its reader.
type answerWriter struct{ o *observation }

func (w answerWriter) Write(b []byte) (int, error) {
	if !w.o.held.force(int64(len(b))) {
		return 0, errFull
	}
	w.o.hear(b)
	return len(b), nil
}

// countStep is how much of an answer is held before it is counted.
const countStep = 64 << 10

// count counts what is held of the answer, and reports whether that may be.
func (o *observation) count(n int64) bool {
	if o.uncounted += n; o.uncounted < countStep {
		return true
	}
	n, o.uncounted = o.uncounted, 0
	return o.held.force(n)
}

// cutWithoutNotice reports whether an answer that only the end of its connection delimits ended
// too early: HTTP cannot tell.
func (o *observation) cutWithoutNotice(resp *http.Response) bool {
	delimited := resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor != 1
	if o == nil || delimited || len(o.encoding) > 0 || o.status >= 300 {
		return false
	}
	r := o.outcome()
	return !o.broken && !r.Complete
}

// outcome returns what the answer said.
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
		if err != nil && !r.Complete && o.err == nil {
			o.cannot = err
			r.Err = "the answer cannot be read: " + err.Error()
		}
	})
	if o.broken {
		r = wire.Result{Err: "the answer was not understood"}
	}
	o.result = &r
	return r
}
