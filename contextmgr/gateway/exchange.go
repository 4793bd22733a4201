package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// end passes the observation to the queue. err is the reason why the agent did not get everything.
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
		defer o.in.hold.Settle(thread.Usage{}) // if one of these panics, what it has used is unknown
		e := o.exchange()
		o.rewriterEnded(&e)
		o.speech.end(e)
		if e.Main {
			o.rt.last.ended(e)
		}
		e.Bytes, e.Keep = o.held.bytes(), o.keep
		o.rt.observer.ExchangeEnded(o.rt.id, e)
		o.w.limiter.charge(o.rt, o.in.hold, e) // last: what is held back tells that something is still to be reported
	})
}

// leave ends an observation that whoever carried the request has left without an end: it has panicked.
func (o *observation) leave() {
	if o != nil && o.ended.IsZero() {
		o.end(errLeft)
	}
}

var errLeft = errors.New("orchestrator failed while it passed the answer on")

// rewriterEnded tells the rewriter how the exchange ended.
func (o *observation) rewriterEnded(e *thread.Exchange) {
	ended := o.in.rewritten.Ended
	if ended == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			o.w.opts.Log.Error("rewriting panicked after an answer", "type", fmt.Sprintf("%T", p))
		}
	}()
	ended(e)
}

// keep counts what the observer still holds of the exchange after it was reported.
func (o *observation) keep(n int64) (release func()) {
	h := o.w.memory.hold(&o.rt.held)
	h.kept = true
	h.large = o.held.passOn()
	h.force(n)
	return h.release
}

// exchange returns what is known about the request and its answer.
func (o *observation) exchange() thread.Exchange {
	q, r := o.request, o.outcome()
	model := q.Model
	if model == "" {
		model = r.Model
	}
	e := thread.Exchange{
		Main: q.Purpose == wire.PurposeMain, Purpose: q.Purpose.Side(),
		Sub: o.sub(), Model: model, Session: q.Session,
		Started: o.started, Ended: o.ended, Status: o.status,
		Items: q.Items, Prompt: q.Prompt, Stale: o.stale(),
		Text: r.Text, Tools: r.Tools, Stop: r.Stop, EndsTurn: r.EndsTurn && q.Purpose == wire.PurposeMain,
		Usage: o.usage(model, r.Usage), Masked: o.in.rewritten.Masked,
		Err: r.Err,
	}
	e.Window = o.rt.window(o.w.opts.Models, model, q.LongWindow, e.Usage.Context())
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
			e.Err = "the response is not a model's answer but " + orNone(plaintext.Cut(o.kind, 100))
		}
	case thread.FaultAgent:
	default:
		if e.Until.IsZero() && (e.Status == http.StatusTooManyRequests || e.Fault == thread.FaultLimited) {
			e.Until = limitNamed(e.Err, o.ended)
		}
	}
	if e.Quotas = o.quotas; !e.Until.IsZero() && len(e.Quotas) == 0 { // given in the answer's text
		e.Quotas = []thread.Quota{{Upstream: o.upstream, Window: windowRetry, Resets: e.Until, At: o.ended.Round(0).UTC()}}
	}
	if o.cannot != nil && e.Status < 300 {
		o.unread("an answer", o.cannot)
		// It is complete, so the agent continues or waits; which one is not known.
		e.Unread, e.Interrupted, e.EndsTurn = true, false, e.Main
	}
	e.Err = o.scrub(e.Err)
	if costs(e) && q.Purpose != wire.PurposeCount && (!e.Usage.Priced || e.Interrupted) {
		e.Usage.Unknown = 1
	}
	return e
}

// fault returns how the request failed if its status does not say so; left is set if the agent hung up after the end.
func (o *observation) fault(r wire.Result, left bool) thread.Fault {
	switch {
	case errors.Is(o.err, errAgent) && !left:
		return thread.FaultAgent
	case errors.As(o.err, new(*unreachableError)) && !o.progress.reached():
		return thread.FaultUnreachable
	case o.status >= 300 || o.cannot != nil || o.broken:
		return thread.FaultNone
	case o.err != nil && !left, o.damaged:
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

// scrub removes the request's credentials from a text in which a provider may have quoted them.
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
