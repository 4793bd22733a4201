package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status := refuse(r, g.hosts); status != 0 {
		w.WriteHeader(status)
		return
	}
	target, query, hasQuery := strings.Cut(r.RequestURI, "?")
	rt, rest := g.routes.claim(r.Header, target)
	if rt == nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if !g.calls.enter() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer g.calls.Done()
	if rest == hookPath || strings.HasPrefix(rest, hookPath+"/") {
		g.hook(w, r, rt, strings.TrimPrefix(rest[len(hookPath):], "/"))
		return
	}
	if isWebSocket(r) {
		// Requests over a WebSocket contain only what is new; agents fall back to complete ones.
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUpgradeRequired)
		_, _ = w.Write(plainError("this gateway speaks HTTP only"))
		return
	}
	name := ""
	if after, ok := strings.CutPrefix(rest, "/@"); ok {
		name, rest, _ = strings.Cut(after, "/")
		rest = "/" + rest
	}
	if climbs(rest) {
		deny(w, nil, http.StatusBadRequest, "this gateway accepts no path that leads to a parent folder")
		return
	}
	up := rt.upstream(name)
	if up == nil {
		deny(w, nil, http.StatusNotFound, "no upstream is configured here")
		return
	}
	g.carry(w, r, rt, joinTarget(up, rest, query, hasQuery))
}

// joinTarget appends a request target to an upstream's base URL without changing its escapes.
func joinTarget(up *url.URL, rest, query string, hasQuery bool) *url.URL {
	u := *up
	target := strings.TrimSuffix(up.EscapedPath(), "/") + rest
	if target == "" || target[0] != '/' {
		target = "/" + target
	}
	if path, err := url.PathUnescape(target); err == nil {
		u.Path, u.RawPath = path, target
	} else {
		u.Path, u.RawPath = target, ""
	}
	if u.EscapedPath() != target && !strings.HasPrefix(target, "//") {
		u.Opaque = target // sent unchanged in the request line
	}
	switch {
	case up.RawQuery == "":
		u.RawQuery, u.ForceQuery = query, hasQuery && query == ""
	case query != "":
		u.RawQuery = up.RawQuery + "&" + query
	}
	return &u
}

// carry forwards one request to its upstream and the answer back.
func (g *Gateway) carry(w http.ResponseWriter, r *http.Request, rt *route, to *url.URL) {
	codec := g.opts.Codecs.Match(r.Method, to.Path)
	wait, refused := g.limiter.refuse(w, r, rt, codec)
	if refused {
		return
	}
	held := g.bodies.memory.hold(&rt.held)
	told := false // whoever reports the request releases what it holds
	defer func() {
		if !told {
			held.release()
		}
	}()
	body, status := g.bodies.read(w, r, held, rt.patience())
	if status == statusFull {
		g.limiter.turnAway(w, r, rt, codec, http.StatusServiceUnavailable, g.bodies.full(rt), retryFull)
		return
	}
	if status != 0 {
		deny(w, codec, status, http.StatusText(status))
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if !g.limiter.pause(ctx, rt, wait) { // its body has been read: only then it is known that the agent has hung up
		return
	}
	rewritten, plain, unreadable := g.rewriting.rewrite(ctx, rt, codec, to, r.Header, body, held)
	if rewritten.Refusal != "" {
		g.limiter.turnAway(w, r, rt, codec, rewritten.Status, rewritten.Refusal, 0)
		return
	}
	in := seen{body: body, plain: plain, unreadable: unreadable, rewritten: rewritten}
	var err error
	if in.hold, err = g.limiter.reserve(ctx, rt, codec, to, r.Header, in); err != nil {
		if ctx.Err() == nil {
			g.limiter.turnAway(w, r, rt, codec, refusal(err), thread.NotSent+err.Error(), 0)
		}
		return
	}
	charged := false // what nobody reads: whether its provider may charge for it
	defer func() {
		switch {
		case told:
		case charged:
			in.hold.Settle(thread.Usage{})
		default:
			in.hold.Release()
		}
	}()
	if q := rewritten.Request; q != nil && q.Purpose == wire.PurposeMain {
		rt.sender.keep(sent{r.Method, to, r.Header, codec, q.Model})
	}
	out := outbound(ctx, r, to, body)
	if rewritten.Body != nil {
		out.Header.Del("Content-Encoding")
		held.force(int64(len(rewritten.Body)))
		setBody(out, rewritten.Body)
	}
	var o *observation
	if codec != nil {
		o, told = g.watcher.watch(rt, codec, out, in, held), true
		defer o.leave()
		out = o.progress.traced(out)
	}
	charged = true
	resp, err := g.upstreams.reach(ctx, rt, out)
	if err != nil {
		charged = r.Context().Err() != nil
		if r.Context().Err() != nil {
			// An agent that has only shut down its sending side still reads, and gets the error. It cannot be told from one that
			// is gone until something is written to it; continuing would leave the answers of interrupted agents running.
			w.Header().Set("Connection", "close")
			deny(w, codec, http.StatusBadRequest, "the request was cancelled because its connection was closed for writing: "+
				"keep it open until the answer has arrived")
			o.end(g.gone())
			return
		}
		var cause *unreachableError
		if !errors.As(err, &cause) {
			cause = &unreachableError{host: to.Host, why: reason(err)}
		}
		unreached(w, codec, cause)
		o.end(cause)
		return
	}
	defer resp.Body.Close()
	charged = resp.StatusCode < 300
	resp.Request = out // a transport in a test may leave it out
	rt.mustWait(limitEnds(resp.StatusCode, resp.Header, time.Now()))
	o.begin(resp)
	err = g.relay(w, r, resp, o, cancel)
	o.end(err)
	if err != nil {
		panic(http.ErrAbortHandler) // so that the agent sees a broken connection and not a regular end
	}
}

// outbound returns the request for the upstream. It is complete in memory and independent of the incoming one.
func outbound(ctx context.Context, r *http.Request, to *url.URL, body []byte) *http.Request {
	out := (&http.Request{
		Method: r.Method, URL: to, Host: to.Host, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	copyHeader(out.Header, r.Header)
	out.Header.Del("Expect") // already fulfilled: the body has been read
	if out.Header["User-Agent"] == nil {
		out.Header["User-Agent"] = []string{""} // suppresses Go's default
	}
	if len(body) > 0 {
		setBody(out, body)
	}
	return out
}

// setBody sets a request's body.
func setBody(out *http.Request, body []byte) {
	out.ContentLength = int64(len(body))
	out.Body = io.NopCloser(bytes.NewReader(body))
	// Lets the transport use another connection if the first one turns out to be closed before a byte was written.
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}
