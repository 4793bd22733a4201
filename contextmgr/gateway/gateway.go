// Package gateway carries the model requests of threads: a reverse proxy on loopback with a
// secret address for each thread.
//
// Guarantees: a request's body goes upstream byte for byte, and its answer comes back byte for
// byte, flushed as it arrives. Nothing is retried, redirected or buffered on the way back. A
// stream that is cut upstream is cut for the agent too. What is read of the traffic is read
// beside the stream; no error or panic of the reading, and no slow observer, changes or delays
// it. An observer hears a thread's requests in the order in which they ended, after their last
// byte, and what the model says as it comes. Every request needs the thread's secret, in its address or in a header that goes no further, one of our
// Host names and no Origin.
//
// It does not store or log bodies, headers or secrets, listens on loopback only, sends nothing
// anywhere but to the upstreams that a route names, and does not change requests.
package gateway

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Options set what a gateway does beyond carrying. The zero value is useful.
type Options struct {
	// Codecs are the formats that are read; requests of others pass unread.
	Codecs wire.Codecs
	// Models prices answers and knows windows. Unknown models have neither.
	Models models.Table
	// Log takes what goes wrong with the gateway itself; never bodies, headers or addresses
	// with secrets. Nil discards.
	Log *slog.Logger
	// Proxy says which proxy to reach an upstream through, as in http.Transport; nil is none.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport replaces the way to the upstreams, for tests.
	Transport http.RoundTripper

	// Caps bound what agents may use. Spent says what each thread had cost before the gateway was opened; it is
	// asked once, when the first request needs it. Nil is nothing.
	Caps  Caps
	Spent func() map[thread.ID]float64

	MaxBody     int64         // largest request body; 0 is 64 MB
	Silence     time.Duration // longest pause inside an answer; 0 is 10 minutes
	HeaderLimit time.Duration // time for a request's header; 0 is 5 seconds
	BodyLimit   time.Duration // time for a request's body; 0 is 2 minutes
	WriteLimit  time.Duration // time for an agent to take a piece of its answer; 0 is 5 minutes
	StoreLimit  time.Duration // time that a request waits while too much is held; 0 is 30 seconds

	// How long a request may be without a connection, and without the first word of its answer, before that is told;
	// 0 is 5 and 8 seconds.
	ConnectSlow, AnswerSlow time.Duration
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Silence, 10*time.Minute)
	set(&o.HeaderLimit, 5*time.Second)
	set(&o.BodyLimit, 2*time.Minute)
	set(&o.WriteLimit, 5*time.Minute)
	set(&o.StoreLimit, 30*time.Second)
	set(&o.ConnectSlow, 5*time.Second)
	set(&o.AnswerSlow, 8*time.Second)
	if o.Caps.Bytes == 0 {
		o.Caps.Bytes = 256 << 20
	}
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		o.Transport = newTransport(o.Proxy)
	}
	return o
}

// newTransport returns a way upstream that adds nothing of its own: no compression, no user
// agent, no retry of what may have been received.
func newTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConns:        200,
		MaxIdleConnsPerHost: 100,
		// Below the 60 s after which common servers close idle connections, so that a request
		// is not sent into a connection that is just being closed.
		IdleConnTimeout:     50 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      32 << 10,
	}
}

// Gateway implements thread.Gateway.
type Gateway struct {
	opts  Options
	ln    net.Listener
	hosts map[string]bool // Host headers that are ours
	srv   *http.Server
	bufs  sync.Pool // *[]byte of bufSize, for relaying

	observer thread.Observer
	purse    purse
	budget   *budget
	growing  chan struct{} // holds one while a body of unknown length grows

	// calls counts requests that are being carried, and queues that still have things to tell.
	calls sync.WaitGroup

	// mu guards what follows. It is a leaf: nothing is called while it is held.
	mu       sync.Mutex
	byID     map[thread.ID]*route
	breakers map[string]*breaker          // by the upstream's scheme and host
	bySecret map[[sha256.Size]byte]*route // by the secret's hash, so that looking up tells nothing
	closed   bool
}

// bufSize is how much is relayed at once.
const bufSize = 32 << 10

// New listens on a loopback address such as "127.0.0.1:0". The observer hears what is carried.
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
		opts:     opts.withDefaults(),
		ln:       ln,
		hosts:    map[string]bool{},
		observer: obs,
		byID:     map[thread.ID]*route{},
		breakers: map[string]*breaker{}, bySecret: map[[sha256.Size]byte]*route{},
		purse:   purse{before: opts.Spent},
		growing: make(chan struct{}, 1),
		budget:  newBudget(opts.withDefaults().Caps.Bytes),
		bufs:    sync.Pool{New: func() any { b := make([]byte, bufSize); return &b }},
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String()) // an address of our own
	for _, h := range []string{"127.0.0.1", "localhost", "::1", host} {
		g.hosts[net.JoinHostPort(h, port)] = true
	}
	g.srv = &http.Server{
		Handler:           g,
		ReadHeaderTimeout: g.opts.HeaderLimit,
		// Agents keep connections between prompts; one that is closed just as it is used again
		// costs them an error.
		IdleTimeout:    10 * time.Minute,
		MaxHeaderBytes: 256 << 10,
		ErrorLog:       log.New(io.Discard, "", 0), // its lines may hold addresses with secrets
	}
	return g, nil
}

// Addr returns the address that the gateway listens on.
func (g *Gateway) Addr() string { return g.ln.Addr().String() }

// Run carries requests until ctx ends or Close is called.
func (g *Gateway) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = g.Close() })
	defer stop()
	if err := g.srv.Serve(g.ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("run gateway: %w", err)
	}
	return nil
}

// closeLimit bounds how long Close waits for the observer.
const closeLimit = 10 * time.Second

// Close cuts what is being carried and returns when the observer has heard of it.
func (g *Gateway) Close() error {
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	g.mu.Unlock()
	if !first {
		return nil
	}
	err := g.srv.Close()
	_ = g.ln.Close() // where Run was never called
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
	if t, ok := g.opts.Transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
	if err != nil {
		return fmt.Errorf("close gateway: %w", err)
	}
	return nil
}

// route is the way of one thread.
type route struct {
	id     thread.ID
	agent  string
	secret string
	queue  *queue
	bucket bucket
	told   told
	held   account // guarded by the gateway's budget
	spoken int64   // main requests so far, for their speech; the queue's
	last   last    // belongs to queue's goroutine

	// mu guards what Route may replace while requests are carried.
	mu        sync.Mutex
	upstreams map[string]*url.URL
	windows   map[string]int64 // that the agent is configured with
	waits     time.Time        // until when the agent was told to wait
}

func (rt *route) window(t models.Table, model string, long bool, used int64) int64 {
	rt.mu.Lock()
	agents := rt.windows // replaced, never changed
	rt.mu.Unlock()
	return t.Window(model, long, used, agents)
}

func (rt *route) upstream(name string) *url.URL {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.upstreams[name]
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
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return "", "", fmt.Errorf("route %s: gateway is closed", agent)
	}
	rt := g.byID[id]
	if rt == nil {
		var b [32]byte
		rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
		rt = &route{id: id, secret: hex.EncodeToString(b[:])}
		rt.queue = newQueue(&g.calls, g.opts.Log)
		g.byID[id] = rt
		g.bySecret[sha256.Sum256([]byte(rt.secret))] = rt
	}
	rt.agent = agent
	rt.mu.Lock()
	rt.upstreams, rt.windows = ups, spec.Windows
	rt.mu.Unlock()
	base := "http://" + g.ln.Addr().String() + "/t/" + rt.secret
	return base, base + hookPath, nil
}

// Unroute implements thread.Gateway. Requests that are being carried go on to their end.
func (g *Gateway) Unroute(id thread.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if rt := g.byID[id]; rt != nil {
		delete(g.byID, id)
		delete(g.bySecret, sha256.Sum256([]byte(rt.secret)))
	}
}

// parseUpstream checks an upstream's address. Our own would carry requests in a circle.
func (g *Gateway) parseUpstream(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: no address", thread.ErrInvalid) // err quotes it, credentials and all
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Fragment != "", u.Opaque != "":
		return nil, fmt.Errorf("%w: an upstream is an http or https address", thread.ErrInvalid)
	case g.hosts[u.Host]:
		return nil, fmt.Errorf("%w: the upstream is this gateway itself", thread.ErrInvalid)
	}
	return u, nil
}

// find returns the route of a secret.
func (g *Gateway) find(secret string) *route {
	sum := sha256.Sum256([]byte(secret))
	g.mu.Lock()
	defer g.mu.Unlock()
	rt := g.bySecret[sum]
	if rt == nil || subtle.ConstantTimeCompare([]byte(rt.secret), []byte(secret)) != 1 {
		return nil
	}
	return rt
}

// cutPath takes a request target apart: "/t/<secret>/rest".
func cutPath(path string) (secret, rest string, ok bool) {
	path, ok = strings.CutPrefix(path, "/t/")
	if !ok {
		return "", "", false
	}
	secret, rest, found := strings.Cut(path, "/")
	if found {
		rest = "/" + rest
	}
	return secret, rest, secret != ""
}

var _ thread.Gateway = (*Gateway)(nil)
