package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"orchestrator/contextmgr/wire"
)

// What ends an answer before its time.
var (
	errSilence = errors.New("the provider fell silent")
	errAgent   = errors.New("the agent closed the connection")
	errStopped = errors.New("orchestrator stopped")
)

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status := g.refuse(r); status != 0 {
		w.WriteHeader(status)
		return
	}
	target, query, hasQuery := strings.Cut(r.RequestURI, "?")
	rt, rest := g.claim(r.Header, target)
	if rt == nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if !g.enter() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer g.calls.Done()
	if rest == hookPath || strings.HasPrefix(rest, hookPath+"/") {
		g.hook(w, r, rt, strings.TrimPrefix(rest[len(hookPath):], "/"))
		return
	}
	if isWebSocket(r) {
		// Requests over a WebSocket name only what is new; agents fall back to whole ones.
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
		g.deny(w, nil, http.StatusBadRequest, "this gateway takes no path that leads upwards")
		return
	}
	up := rt.upstream(name)
	if up == nil {
		g.deny(w, nil, http.StatusNotFound, "no upstream is configured here")
		return
	}
	g.carry(w, r, rt, joinTarget(up, rest, query, hasQuery))
}

// enter counts a request in, unless the gateway is closed.
func (g *Gateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.calls.Add(1)
	return true
}

// joinTarget appends a request target to an upstream's base without changing an escape in it.
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
		u.Opaque = target // goes into the request line as it is
	}
	switch {
	case up.RawQuery == "":
		u.RawQuery, u.ForceQuery = query, hasQuery && query == ""
	case query != "":
		u.RawQuery = up.RawQuery + "&" + query
	}
	return &u
}

// carry takes one request to its upstream and the answer back.
func (g *Gateway) carry(w http.ResponseWriter, r *http.Request, rt *route, to *url.URL) {
	codec := g.opts.Codecs.Match(r.Method, to.Path)
	if g.refuseCapped(w, r, rt, codec) {
		return
	}
	held := g.budget.hold(&rt.held)
	told := false // whoever is told of the request gives back what it holds
	defer func() {
		if !told {
			held.release()
		}
	}()
	body, status := g.readBody(w, r, held)
	if status == statusFull {
		g.turnAway(w, r, rt, codec, http.StatusServiceUnavailable, g.full(rt), retryFull)
		return
	}
	if status != 0 {
		g.deny(w, codec, status, http.StatusText(status))
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	out := outbound(ctx, r, to, body)
	var o *observation
	if codec != nil {
		o, told = g.observe(rt, codec, out, body, held), true
		out = o.traced(out)
	}
	resp, err := g.reach(ctx, rt, out)
	if err != nil {
		if r.Context().Err() != nil {
			// One that has only shut down its side still reads, and is told why. It cannot be told from one that is
			// gone before something is written to it; going on would leave the answers of interrupted agents running.
			w.Header().Set("Connection", "close")
			g.deny(w, codec, http.StatusBadRequest, "the request was given up because its connection was closed for writing: keep it open until the answer is there")
			o.end(g.gone())
			return
		}
		var cause *unreachableError
		if !errors.As(err, &cause) {
			cause = &unreachableError{host: to.Host, why: reason(err)}
		}
		g.unreached(w, codec, cause)
		o.end(cause)
		return
	}
	defer resp.Body.Close()
	resp.Request = out // a transport of a test may leave it out
	rt.mustWait(limitEnds(resp.StatusCode, resp.Header, time.Now()))
	o.begin(resp)
	err = g.relay(w, r, resp, o, cancel)
	o.end(err)
	if err != nil {
		panic(http.ErrAbortHandler) // so that the agent sees a cut and not an end
	}
}

// firstBody is how much room is made for a body before any of it has come, and firstChunk where its length is not
// known.
const (
	firstBody  = 8 << 20
	firstChunk = 64 << 10
)

// perRequest is what a request takes beside its body, in bytes.
const perRequest = 4 << 10

// statusFull says that no room for a body was found in time.
const statusFull = -1

// retryFull is when an agent may try again after that.
const retryFull = 5 * time.Second

// readBody takes a request's body whole: an answer may begin before a body that is still being
// read has ended, and would be cut off. It waits while too much is held.
func (g *Gateway) readBody(w http.ResponseWriter, r *http.Request, held *hold) (body []byte, status int) {
	if r.ContentLength > g.opts.MaxBody {
		w.Header().Set("Connection", "close")
		return nil, http.StatusRequestEntityTooLarge
	}
	size := r.ContentLength
	if size < 0 {
		size = firstChunk
	}
	if size == 0 {
		held.force(perRequest)
		return nil, 0
	}
	if !g.room(r, held, size+perRequest) {
		return nil, statusFull
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(g.opts.BodyLimit)) // only a test's writer has none
	in := http.MaxBytesReader(w, r.Body, g.opts.MaxBody)
	body = make([]byte, 0, min(size, firstBody))
	growing := false
	defer func() {
		if growing {
			<-g.growing
		}
	}()
	var err error
	for err == nil {
		if len(body) == cap(body) {
			if len(body) == int(r.ContentLength) { // to its end
				if _, err = io.ReadFull(in, make([]byte, 1)); errors.Is(err, io.EOF) {
					break
				}
				continue
			}
			grown := r.ContentLength
			if grown < 0 {
				grown = 2 * int64(cap(body))
			}
			if r.ContentLength < 0 {
				growing = growing || g.mayGrow(r)
				if !growing || !g.room(r, held, grown-int64(cap(body))) {
					return nil, statusFull
				}
			}
			body = append(make([]byte, 0, grown), body...)
		}
		var n int
		n, err = in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
	}
	_ = rc.SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	var timeout net.Error
	switch {
	case errors.Is(err, io.EOF):
		return body, 0
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge
	case errors.As(err, &timeout) && timeout.Timeout():
		w.Header().Set("Connection", "close")
		return nil, http.StatusRequestTimeout
	default:
		w.Header().Set("Connection", "close")
		return nil, http.StatusBadRequest
	}
}

// room waits until so many more bytes may be held, but not for ever.
func (g *Gateway) room(r *http.Request, held *hold, n int64) bool {
	ctx, cancel := context.WithTimeout(r.Context(), g.opts.StoreLimit)
	defer cancel()
	return held.take(ctx, n) == nil
}

// mayGrow waits until no other body of unknown length is larger than its first chunk. Did several of them wait for
// more with what they have, none would ever get it.
func (g *Gateway) mayGrow(r *http.Request) bool {
	timer := time.NewTimer(g.opts.StoreLimit)
	defer timer.Stop()
	select {
	case g.growing <- struct{}{}:
		return true
	case <-timer.C:
	case <-r.Context().Done():
	}
	return false
}

// full says why a request was not sent: too much is held.
func (g *Gateway) full(rt *route) string {
	return fmt.Sprintf("orchestrator does not send this request: it holds %d MB that are under way or not stored yet (%d MB of this thread), "+
		"and its cap is %d MB, an eighth of it for a thread. Try again when they are stored, or raise limits.memory_mb in the configuration",
		g.budget.total()>>20, g.budget.of(&rt.held)>>20, g.budget.max>>20)
}

// outbound makes the request for the upstream. It is complete in memory and independent of the
// one that came in.
func outbound(ctx context.Context, r *http.Request, to *url.URL, body []byte) *http.Request {
	out := (&http.Request{
		Method: r.Method, URL: to, Host: to.Host, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	copyHeader(out.Header, r.Header)
	out.Header.Del("Expect") // it was met: the body is here
	if out.Header["User-Agent"] == nil {
		out.Header["User-Agent"] = []string{""} // adds none of Go's
	}
	if len(body) > 0 {
		out.ContentLength = int64(len(body))
		out.Body = io.NopCloser(bytes.NewReader(body))
		// Lets the transport use another connection when the first one turned out to be closed
		// before a byte was written.
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return out
}

// relay copies an answer as it comes. It returns an error when the agent did not get all of it.
func (g *Gateway) relay(w http.ResponseWriter, r *http.Request, resp *http.Response, o *observation, cancel context.CancelCauseFunc) error {
	h := w.Header()
	copyHeader(h, resp.Header)
	if resp.Header["Content-Type"] == nil {
		h["Content-Type"] = nil // adds no guess
	}
	rc := http.NewResponseController(w)
	w.WriteHeader(resp.StatusCode)
	if resp.ContentLength != 0 {
		_ = rc.Flush() // an agent that is gone shows when its answer is written
	}
	silence := time.AfterFunc(g.opts.Silence, func() { cancel(errSilence) })
	defer silence.Stop()
	buf := g.bufs.Get().(*[]byte)
	defer g.bufs.Put(buf)
	for {
		n, err := resp.Body.Read(*buf)
		silence.Reset(g.opts.Silence)
		if n > 0 {
			_ = rc.SetWriteDeadline(time.Now().Add(g.opts.WriteLimit))
			_, sent := w.Write((*buf)[:n])
			if sent == nil {
				sent = rc.Flush()
			}
			// Read even what could not be sent whole: an agent that has heard the end hangs up at once.
			o.write((*buf)[:n])
			if sent != nil {
				return errAgent
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			for name, values := range resp.Trailer {
				h[http.TrailerPrefix+name] = values
			}
			if o.cutWithoutNotice(resp) {
				return io.ErrUnexpectedEOF
			}
			return nil
		case r.Context().Err() != nil:
			return g.gone()
		case errors.Is(context.Cause(resp.Request.Context()), errSilence):
			return errSilence
		default:
			return cut(err)
		}
	}
}

// gone says who ended a connection to an agent.
func (g *Gateway) gone() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errStopped
	}
	return errAgent
}

// cut says for people how an answer ended early.
func cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the provider cut the answer off")
	}
	return errors.New("the answer was cut off: " + reason(err))
}

// reason returns an error's cause without addresses and credentials.
func reason(err error) string {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "no such host"
	case errors.As(err, &op) && op.Err != nil:
		return wire.Clip(op.Err.Error(), 200)
	default:
		return wire.Clip(err.Error(), 200)
	}
}

// deny answers with an error of the gateway's own, in the shape that the agent can show.
func (g *Gateway) deny(w http.ResponseWriter, codec wire.Codec, status int, message string) {
	body := plainError(message)
	if codec != nil {
		body = codec.Error(status, message)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an agent that is gone needs no error
}

func plainError(message string) []byte {
	b, _ := json.Marshal(map[string]any{"error": map[string]string{"type": "gateway_error", "message": message}}) // strings always encode
	return b
}

// hookPath is where agents report, below a thread's base URL.
const hookPath = "/_hook"

// maxHook is the largest hook report.
const maxHook = 4 << 20

// hook takes an agent's report. It answers at once and with nothing, since agents read answers
// as instructions.
func (g *Gateway) hook(w http.ResponseWriter, r *http.Request, rt *route, event string) {
	if !validEvent(event) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	held := g.budget.hold(&rt.held)
	size := r.ContentLength
	if size < 0 {
		size = maxHook
	}
	if !g.room(r, held, min(size, maxHook)+perRequest) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(g.opts.BodyLimit))
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	_ = rc.SetReadDeadline(time.Time{})
	if err != nil {
		held.release()
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	rt.queue.add(func() {
		defer held.release()
		g.observer.Hook(rt.id, event, payload)
	})
	w.WriteHeader(http.StatusNoContent)
}

func validEvent(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
