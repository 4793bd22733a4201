package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// observation is what is learned of one request beside its stream. A nil one observes nothing.
// Until end it belongs to the handler's goroutine, then to the route's queue; started is read by
// the queue only.
type observation struct {
	g     *Gateway
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
	speech    speech
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

// observe begins to watch a request. Reading the body is left to the queue, beside the way
// upstream.
func (g *Gateway) observe(rt *route, codec wire.Codec, out *http.Request, body []byte, held *hold) *observation {
	o := &observation{
		g: g, rt: rt, codec: codec, body: body, held: held, started: time.Now(),
		call: wire.Call{Path: out.URL.Path, Query: out.URL.RawQuery, Header: out.Header.Clone(), Body: body},
	}
	o.speech.o = o
	o.announce = sync.OnceFunc(func() {
		rt.queue.add(func() {
			o.read()
			main := o.request.Purpose == wire.PurposeMain
			again := main && rt.last.again(o.request.Items)
			g.observer.RequestStarted(rt.id, thread.Begun{Main: main, Model: o.request.Model, At: o.started, Again: again, Prompt: o.request.Prompt})
			o.progress.began(again)
			o.speech.begin(main)
		})
	})
	o.progress = g.await(o)
	o.timer = time.AfterFunc(startDelay, o.announceCounted)
	return o
}

// announceCounted announces from the timer's goroutine, unless the gateway is closed.
func (o *observation) announceCounted() {
	if o.g.enter() {
		defer o.g.calls.Done()
		o.announce()
	}
}

// read parses the request. A body that cannot be read is a side request: it passed all the same.
func (o *observation) read() {
	defer func() {
		if p := recover(); p != nil {
			o.g.opts.Log.Error("reading a request panicked", "wire", o.codec.Wire(), "type", fmt.Sprintf("%T", p))
			o.request = wire.Request{Purpose: wire.PurposeOther}
		}
	}()
	if enc := codings(o.call.Header["Content-Encoding"]); len(enc) > 0 {
		var plain bytes.Buffer
		err := unpack(counter{&plain, o.held}, enc, bytes.NewReader(o.body), o.g.opts.MaxBody)
		if err != nil {
			o.unread("a request", err)
			o.request = wire.Request{Purpose: wire.PurposeOther}
			return
		}
		o.call.Body = plain.Bytes()
	}
	req, err := o.codec.Request(o.call)
	if err != nil {
		o.g.opts.Log.Debug("request was not understood", "wire", o.codec.Wire())
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
	o.g.opts.Log.Warn("traffic cannot be read", "thread", string(o.rt.id), "what", what, "wire", o.codec.Wire(), "err", err)
	if o.rt.told.again("unread "+what, time.Now(), 0) {
		o.g.notice(o.rt, thread.LevelWarn, fmt.Sprintf("%s of this thread passed but cannot be read: %v. What it says is missing in the record until "+
			"the next request brings it again", what, err))
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
		o.unpacking = o.unpack()
	}
}

// safely keeps a codec's panic away from the stream.
func (o *observation) safely(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			o.broken = true
			o.g.opts.Log.Error("reading an answer panicked", "wire", o.codec.Wire(), "type", fmt.Sprintf("%T", p))
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

// end hands the observation to the queue. err says why the agent did not get everything.
func (o *observation) end(err error) {
	if o == nil {
		return
	}
	o.ended, o.err = time.Now(), err
	o.timer.Stop()
	o.progress.over()
	o.announce()
	o.held.force(o.uncounted)
	if o.unpacking != nil {
		o.unpacking.in.end()
	}
	o.rt.queue.add(func() {
		defer o.held.release()
		e := o.exchange()
		o.speech.end(e)
		o.g.charge(o.rt, e)
		if e.Main {
			o.rt.last.ended(e)
		}
		e.Bytes, e.Keep = o.held.bytes(), o.keep
		o.g.observer.ExchangeEnded(o.rt.id, e)
	})
}

// keep counts what the observer holds of the exchange after it was told.
func (o *observation) keep(n int64) (release func()) {
	h := o.g.budget.hold(&o.rt.held)
	h.kept = true
	h.force(n)
	return h.release
}

// exchange says what is known of the request and its answer.
func (o *observation) exchange() thread.Exchange {
	q, r := o.request, o.outcome()
	model := q.Model
	if model == "" {
		model = r.Model
	}
	e := thread.Exchange{
		Main: q.Purpose == wire.PurposeMain, Purpose: q.Purpose.Side(),
		Model: model, Session: q.Session,
		Started: o.started, Ended: o.ended, Status: o.status,
		Items: q.Items, Prompt: q.Prompt,
		Text: r.Text, Tools: r.Tools, Stop: r.Stop, EndsTurn: r.EndsTurn && q.Purpose == wire.PurposeMain,
		Usage: o.usage(model, r.Usage),
		Err:   r.Err,
	}
	e.Window = o.rt.window(o.g.opts.Models, model, q.LongWindow, e.Usage.Context())
	if r.Item != nil {
		e.Answer = &thread.Item{Wire: o.codec.Wire(), Raw: r.Item}
	}
	// An agent may hang up as soon as it has read the end of its answer: nothing is missing then.
	left := errors.Is(o.err, errAgent) && o.status < 300 && r.Complete
	if o.err != nil && !left {
		e.Err = o.err.Error()
	}
	if o.err != nil && !left || (o.status < 300 && (!r.Complete || r.Err != "" && wire.Streamed(o.kind))) {
		e.Interrupted, e.EndsTurn = true, false
	}
	e.Fault, e.Until = o.fault(r, left), o.until
	switch e.Fault {
	case thread.FaultNoAnswer:
		if o.status < 300 && r.Item == nil && !wire.Streamed(o.kind) {
			e.Err = "what came is no model's answer but " + orNone(wire.Clip(o.kind, 100))
		}
	case thread.FaultAgent:
	default:
		if e.Until.IsZero() && (e.Status == http.StatusTooManyRequests || e.Fault == thread.FaultLimited) {
			e.Until = limitNamed(e.Err, o.ended)
		}
	}
	if e.Quotas = o.quotas; !e.Until.IsZero() && len(e.Quotas) == 0 { // said in the answer's text
		e.Quotas = []thread.Quota{{Upstream: o.upstream, Window: windowRetry, Resets: e.Until, At: o.ended.Round(0).UTC()}}
	}
	if o.cannot != nil && e.Status < 300 {
		o.unread("an answer", o.cannot)
		// It came whole, so the agent goes on or waits; nobody knows which.
		e.Unread, e.Interrupted, e.EndsTurn = true, false, e.Main
	}
	e.Err = o.scrub(e.Err)
	return e
}

// fault says how the request failed where its status does not tell; left is set where the agent hung up after the end.
func (o *observation) fault(r wire.Result, left bool) thread.Fault {
	switch {
	case errors.Is(o.err, errAgent) && !left:
		return thread.FaultAgent
	case errors.As(o.err, new(*unreachableError)) && !o.progress.reached():
		return thread.FaultUnreachable
	case o.status >= 300 || o.cannot != nil || o.broken:
		return thread.FaultNone
	case o.err != nil && !left:
		return thread.FaultCut
	}
	kind := thread.FaultNone
	if r.Err != "" {
		kind = errorKind(r.Err)
	}
	switch {
	case kind != thread.FaultNone:
		return kind
	case r.Complete && r.Err != "" && r.Item == nil:
		return thread.FaultError
	case !wire.Streamed(o.kind) && (!r.Complete || r.Item == nil && r.Stop == ""):
		return thread.FaultNoAnswer
	case !r.Complete:
		return thread.FaultCut
	default:
		return thread.FaultNone
	}
}

func orNone(kind string) string {
	if kind == "" {
		return "something without a type"
	}
	return kind
}

func (o *observation) usage(model string, u wire.Usage) thread.Usage {
	out := thread.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
	if !u.Zero() {
		out.CostUSD, out.Priced = o.g.opts.Models.Cost(model, models.Tokens(u))
	}
	return out
}

// scrub takes the request's credentials out of a text that a provider may have quoted them in.
func (o *observation) scrub(s string) string {
	if s == "" {
		return s
	}
	hide := func(secret string) {
		if len(secret) >= 6 {
			s = strings.ReplaceAll(s, secret, "[hidden]")
		}
	}
	for name, values := range o.call.Header {
		if !wire.IsQuoted(name, "auth", "key", "token", "cookie", "secret") {
			continue
		}
		for _, v := range values {
			hide(v)
			if _, token, ok := strings.Cut(v, " "); ok {
				hide(token)
			}
		}
	}
	for pair := range strings.SplitSeq(o.call.Query, "&") {
		if name, value, _ := strings.Cut(pair, "="); wire.IsQuoted(name, "key", "token", "secret", "sig") {
			hide(value)
		}
	}
	hide(o.rt.secret)
	return s
}
