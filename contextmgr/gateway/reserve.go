package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
	"orchestrator/thread/budget"
)

// loginPays is why the price of a request is not known.
const loginPays = "a subscription login pays, and what a request costs it is unknown"

// login reports whether a subscription pays for a request.
func login(codec wire.Codec, header http.Header) bool {
	s, ok := codec.(wire.Scanner)
	return ok && s.Login(header)
}

// reserve holds back what a request likely uses. Counting tokens costs nothing.
func (l *limiter) reserve(
	ctx context.Context, rt *route, codec wire.Codec, to *url.URL, header http.Header, in seen,
) (*budget.Hold, error) {
	if l.opts.Budget == nil {
		return nil, nil
	}
	switch q := requestOf(codec, to, header, in); {
	case codec == nil && header.Get("Content-Type") == "" && len(in.body) == 0:
		return nil, nil
	case codec == nil && len(in.body) == 0: // lists of models and the like
		return nil, l.opts.Budget.Stops(rt.id)
	case codec == nil: // it costs like what the thread's model is asked
		ask := budget.Ask{Input: in.tokens(), Unread: true}
		if last, ok := rt.sender.get(); ok && !login(last.codec, last.header) {
			ask.Cost = func(output int64) (float64, bool) {
				return l.opts.Models.Cost(last.model, models.Tokens{Input: ask.Input, Output: output})
			}
		}
		return l.opts.Budget.Reserve(ctx, rt.id, ask)
	case q.Purpose == wire.PurposeCount:
		return nil, nil
	default:
		main := rt.purpose(q) == wire.PurposeMain
		ask := budget.Ask{Model: q.Model, Main: main, Input: in.tokens()}
		if login(codec, header) {
			ask.Why = loginPays
		} else {
			ask.Cost = func(output int64) (float64, bool) {
				return rt.caches.expect(l.opts.Models, q.Model, main, ask.Input, output, time.Now())
			}
		}
		return l.opts.Budget.Reserve(ctx, rt.id, ask)
	}
}

// requestOf returns what is known of a request. What cannot be read is one of an unknown model.
func requestOf(codec wire.Codec, to *url.URL, header http.Header, in seen) (q wire.Request) {
	if in.rewritten.Request != nil {
		return *in.rewritten.Request
	}
	q.Purpose = wire.PurposeOther
	body := in.body
	if in.plain != nil {
		body = in.plain
	} else if len(codings(header["Content-Encoding"])) > 0 {
		return q
	}
	if codec == nil {
		return q
	}
	defer func() {
		if recover() != nil {
			q = wire.Request{Purpose: wire.PurposeOther}
		}
	}()
	q, _ = codec.Request(wire.Call{Path: to.Path, Query: to.RawQuery, Header: header, Body: body}) // as far as it can be read
	return q
}

// bytesPerToken is how many bytes a token has at least, about, in a request of which nothing was counted.
const bytesPerToken = 3

// tokens returns how many tokens a request has: what was counted and by what that may be wrong, else by its bytes.
func (s seen) tokens() int64 {
	if s.rewritten.Size > 0 {
		return s.rewritten.Size
	}
	return int64(max(len(s.body), len(s.plain), len(s.rewritten.Body))) / bytesPerToken
}

// charge ends what was held back for a request, with what it has used.
func (l *limiter) charge(rt *route, hold *budget.Hold, e thread.Exchange) {
	if e.Purpose == string(wire.PurposeCount) || !costs(e) {
		hold.Release()
		return
	}
	if e.Usage.Unknown == 0 {
		rt.caches.learn(e.Model, e.Main, e.Usage, time.Now())
	}
	hold.Settle(e.Usage)
}

// refusal is the status of a request that its budgets do not let pass; one that cannot be read now may be tried again.
func refusal(err error) int {
	if errors.Is(err, thread.ErrRefused) {
		return http.StatusPaymentRequired
	}
	return http.StatusServiceUnavailable
}

// costs reports whether a provider may charge for an exchange: it has answered, or nobody knows.
func costs(e thread.Exchange) bool {
	switch {
	case e.Usage.Context() > 0:
		return true
	case e.Status >= 300, e.Fault == thread.FaultUnreachable, e.Fault == thread.FaultLimited,
		e.Fault == thread.FaultUnauthorised, e.Fault == thread.FaultError, e.Fault == thread.FaultNoAnswer:
		return false
	default:
		return true
	}
}

// usage returns what an answer has used. What no answer can have used is no number that anybody adds up: the cost is
// unknown then, as it is where a subscription pays, no price is known, or the answer broke off.
func (o *observation) usage(model string, u wire.Usage) thread.Usage {
	out := thread.Usage{
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWriteHour: u.CacheWriteHr, Output: u.Output,
	}
	if u.Odd || !out.Sane() {
		if o.rt.shown.due("usage", time.Now(), time.Hour) {
			o.rt.notice(thread.LevelWarn, "the provider reported a usage that no answer can have: "+
				"what it costs is unknown, and budgets count what was held back for it")
		}
		return thread.Usage{}
	}
	if !u.Zero() && !login(o.codec, o.call.Header) {
		out.CostUSD, out.Priced = o.w.opts.Models.Cost(model, models.Tokens{
			Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWriteHr: u.CacheWriteHr, Output: u.Output,
		})
	}
	if !out.Sane() {
		out.CostUSD, out.Priced = 0, false
	}
	return out
}
