// Package gateway forwards the model requests of threads: a reverse proxy on loopback with a secret address for each
// thread.
//
// Guarantees: a request's body goes upstream byte for byte, unless a Rewriter gives another one, and its answer comes
// back byte for byte, flushed as it arrives. What people see of a request is what the agent sent. Nothing is redirected
// or buffered on the way back, and no request that may have been received is retried. A stream that breaks off upstream
// breaks off for the agent too. The traffic is read beside the stream: no error or panic in reading it, and no slow
// observer, changes or delays it. A request that could be read in two ways is refused, and connections that others leave
// open keep nobody out (thread/front). An observer gets a thread's requests in the order in which they ended, after their
// last byte, and the model's text as it arrives. Every request needs the thread's secret, in its address or in a header
// that is not passed on, a Host name of ours and no Origin.
//
// It does not store or log bodies, headers or secrets, listens on loopback only, and sends nothing anywhere but to the
// upstreams of a route. The header of a thread's last main request, with the credentials in it, is kept in memory for
// Ask, for an hour and as long as the thread has a route; Ask sends it only to where that request went.
package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/front"
)

// Gateway implements thread.Gateway.
type Gateway struct {
	opts  Options
	ln    net.Listener
	hosts map[string]bool // Host headers that are ours
	srv   *http.Server
	bufs  sync.Pool // *[]byte of bufSize, for relaying

	calls     *calls
	routes    *routes
	ways      *ways
	upstreams *upstreams
	bodies    *bodies
	limiter   *limiter
	rewriting *rewriting
	watcher   *watcher

	asking  context.Context // ends when no more may be asked
	endAsks context.CancelFunc
}

// bufSize is how much is relayed at once.
const bufSize = 32 << 10

// New listens on a loopback address such as "127.0.0.1:0" and reports to the observer.
func New(listen string, obs thread.Observer, opts Options) (*Gateway, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("open gateway on %q: %w: only loopback addresses are allowed", listen, thread.ErrInvalid)
	}
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	g := &Gateway{
		opts: opts.withDefaults(), ln: ln, hosts: map[string]bool{}, calls: &calls{},
		bufs: sync.Pool{New: func() any { b := make([]byte, bufSize); return &b }},
	}
	g.asking, g.endAsks = context.WithCancel(context.Background())
	g.routes = &routes{
		observer: obs, calls: g.calls, log: g.opts.Log,
		byID: map[thread.ID]*route{}, bySecret: map[[sha256.Size]byte]*route{},
	}
	g.ways = &ways{every: g.opts.Transport}
	g.upstreams = &upstreams{breakers: map[string]*breaker{}}
	g.bodies = &bodies{opts: &g.opts, memory: newMemory(g.opts.Caps.Bytes), growing: make(chan struct{}, 1)}
	g.limiter = &limiter{opts: &g.opts}
	unpacker := newUnpacker(g.opts.Caps.Bytes, g.opts.MaxBody)
	g.rewriting = &rewriting{rewriter: opts.Rewriter, models: opts.Models, log: g.opts.Log, unpacker: unpacker}
	g.watcher = &watcher{
		opts: &g.opts, calls: g.calls, memory: g.bodies.memory, limiter: g.limiter, unpacker: unpacker,
	}
	g.ln = front.New(ln, front.Most)
	_, port, _ := net.SplitHostPort(ln.Addr().String()) // an address of ours
	for _, h := range []string{"127.0.0.1", "localhost", "::1", host} {
		g.hosts[net.JoinHostPort(h, port)] = true
	}
	g.srv = &http.Server{
		Handler:           g,
		ReadHeaderTimeout: g.opts.HeaderLimit,
		// Agents keep connections open between prompts; one that is closed just as it is used again causes an error.
		IdleTimeout:    10 * time.Minute,
		MaxHeaderBytes: 256 << 10,
		ErrorLog:       log.New(io.Discard, "", 0), // its lines may contain addresses with secrets
	}
	front.Guard(g.srv)
	return g, nil
}

// Addr returns the address that the gateway listens on.
func (g *Gateway) Addr() string { return g.ln.Addr().String() }

// Run serves requests until ctx ends or Close is called.
func (g *Gateway) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = g.Close() })
	defer stop()
	if err := g.srv.Serve(g.ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("run gateway: %w", err)
	}
	return nil
}

// closeLimit is how long Close waits for the observer.
const closeLimit = 10 * time.Second

// Close cuts off running requests and returns when they have been reported to the observer.
func (g *Gateway) Close() error {
	if !g.calls.close() {
		return nil
	}
	g.endAsks()
	err := g.srv.Close()
	_ = g.ln.Close() // if Run was never called
	done := make(chan struct{})
	go func() {
		g.calls.Wait()
		close(done)
	}()
	timer := time.NewTimer(closeLimit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		g.opts.Log.Warn("gateway closed before everything was stored")
	}
	g.ways.close()
	if t, ok := g.opts.Transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
	if err != nil {
		return fmt.Errorf("close gateway: %w", err)
	}
	return nil
}

// Route implements thread.Gateway.
func (g *Gateway) Route(id thread.ID, spec thread.RouteSpec) (baseURL, hookURL string, err error) {
	agent := spec.Agent
	ups := make(map[string]*url.URL, len(spec.Upstreams))
	for name, raw := range spec.Upstreams {
		u, err := g.parseUpstream(raw)
		if err != nil {
			return "", "", fmt.Errorf("route %s to upstream %q: %w", agent, name, err)
		}
		ups[name] = u
	}
	if g.calls.over() {
		return "", "", fmt.Errorf("route %s: gateway is closed", agent)
	}
	out, err := g.ways.of(spec.Network)
	base := "http://" + g.ln.Addr().String() + "/t/" + g.routes.set(id, ups, spec, out)
	if err != nil {
		g.opts.Log.Warn("find the way out of this machine", "agent", agent, "err", err)
		g.routes.of(id).notice(thread.LevelWarn, "requests to its model may fail: "+err.Error())
	}
	return base, base + hookPath, nil
}

// Unroute implements thread.Gateway. Running requests continue to their end.
func (g *Gateway) Unroute(id thread.ID) { g.routes.remove(id) }

// Rest implements thread.Gateway.
func (g *Gateway) Rest(id thread.ID) {
	if k, ok := g.opts.Rewriter.(Keeper); ok {
		k.Rest(id)
	}
}

// Forget implements thread.Gateway.
func (g *Gateway) Forget(id thread.ID) {
	g.routes.remove(id)
	if g.opts.Budget != nil {
		g.opts.Budget.Forget(id)
	}
	if k, ok := g.opts.Rewriter.(Keeper); ok {
		k.Forget(id)
	}
}

// parseUpstream checks an upstream's address. An address of ours would forward requests in a circle.
func (g *Gateway) parseUpstream(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: no address", thread.ErrInvalid) // err quotes it, including credentials
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Fragment != "", u.Opaque != "":
		return nil, fmt.Errorf("%w: an upstream is an http or https address", thread.ErrInvalid)
	case g.hosts[u.Host]:
		return nil, fmt.Errorf("%w: the upstream is this gateway itself", thread.ErrInvalid)
	}
	return u, nil
}

var _ thread.Gateway = (*Gateway)(nil)
