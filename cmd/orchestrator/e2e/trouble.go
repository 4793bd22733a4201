package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// SlowFor is how long a slow provider waits.
const SlowFor = 5 * time.Second

// Provider is a model's server that fails as it is told.
type Provider struct {
	t     *testing.T
	model *model.Server
	addr  string

	mu     sync.Mutex
	fault  string
	half   bool // only every second request fails
	left   int  // failures that are left, less than 0 for all
	asked  int  // requests since the fault was set, as far as they came
	times  []time.Time
	failed time.Time // the newest failure was told
	srv    *http.Server
}

// NewProvider starts a provider in front of a scripted model.
func NewProvider(t *testing.T, m *model.Server) *Provider {
	p := &Provider{t: t, model: m, addr: "127.0.0.1:0"}
	p.listen()
	t.Cleanup(func() { p.srv.Close() })
	return p
}

// URL is where requests are sent.
func (p *Provider) URL() string { return "http://" + p.addr }

func (p *Provider) listen() {
	p.t.Helper()
	var ln net.Listener
	Await(p.t, "the provider's address", func() (ok bool) {
		var err error
		ln, err = net.Listen("tcp", p.addr)
		return err == nil
	})
	p.addr, p.srv = ln.Addr().String(), &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	srv := p.srv
	go func() { _ = srv.Serve(ln) }() // until it is closed
}

// RetryAfter is the fault of a limit that says when to come again, in a header's words.
const RetryAfter = "429 after "

// Fails sets how it fails from now on; "" is not at all, "refused" is that nobody listens.
func (p *Provider) Fails(how string) {
	p.mu.Lock()
	was := p.fault
	p.fault, p.failed, p.left, p.asked, p.half, p.times = how, time.Time{}, -1, 0, false, nil
	p.mu.Unlock()
	switch {
	case how == "refused":
		p.srv.Close()
	case was == "refused":
		p.listen()
	}
}

// FailsFirst has so many requests fail, and those that follow succeed.
func (p *Provider) FailsFirst(how string, requests int) {
	p.Fails(how)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = requests
}

// FailsHalf has every second request fail.
func (p *Provider) FailsHalf(how string) {
	p.Fails(how)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.half = true
}

// Asked returns how many requests of a model came since the fault was set.
func (p *Provider) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// Gap is how long after the first request since the fault was set the second one came.
func (p *Provider) Gap() time.Duration {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.times) < 2 {
		p.t.Fatalf("%d requests, want 2", len(p.times))
	}
	return p.times[1].Sub(p.times[0])
}

// next counts a request and returns how it fails.
func (p *Provider) next(r *http.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method == http.MethodPost {
		p.asked, p.times = p.asked+1, append(p.times, time.Now())
	}
	switch {
	case p.fault == "" || p.left == 0, p.half && p.asked%2 == 0:
		return ""
	case p.left > 0 && r.Method == http.MethodPost:
		p.left--
	}
	if p.failed.IsZero() {
		p.failed = time.Now()
	}
	return p.fault
}

// Since returns when the newest failure was told.
func (p *Provider) Since() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := p.next(r)
	if write := Streams[fault]; write != nil {
		write(w, r)
		return
	}
	say := func(status int, kind, body string) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	const plain = "application/json"
	if when, is := strings.CutPrefix(fault, RetryAfter); is {
		w.Header().Set("Retry-After", when)
		fault = "429"
	}
	switch fault {
	case "401", "403":
		say(map[string]int{"401": 401, "403": 403}[fault], plain, `{"type":"error","error":{"type":"authentication_error","message":"scripted"}}`)
	case "429":
		say(429, plain, `{"type":"error","error":{"type":"rate_limit_error","message":"scripted"}}`)
	case "429 until":
		w.Header().Set("Retry-After", "600")
		say(429, plain, `{"type":"error","error":{"type":"rate_limit_error","message":"scripted"}}`)
	case "400", "404", "408", "413", "502", "503":
		status, _ := strconv.Atoi(fault)
		say(status, plain, `{"type":"error","error":{"type":"invalid_request_error","message":"scripted"}}`)
	case "500":
		say(500, plain, `{"type":"error","error":{"type":"api_error","message":"scripted"}}`)
	case "529":
		say(529, plain, `{"type":"error","error":{"type":"overloaded_error","message":"scripted"}}`)
	case "page":
		say(200, "text/html", "<html><body>Please log in to the hotel</body></html>")
	case "inside":
		say(200, "text/event-stream", insideOf(r.URL.Path))
	case "cut":
		say(200, "text/event-stream", "")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "slow":
		time.Sleep(SlowFor)
		p.model.ServeHTTP(w, r)
	default:
		p.model.ServeHTTP(w, r)
	}
}

// insideOf is an error in the place of an answer, as each wire's provider writes it.
func insideOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"scripted\"}}\n\n"
	case strings.HasSuffix(path, "/responses"):
		return "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"scripted\"}}}\n\n"
	case strings.Contains(path, "generateContent") || strings.Contains(path, "GenerateContent"):
		return "data: {\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"scripted\"}}\n\n"
	default:
		return "data: {\"error\":{\"type\":\"rate_limit_error\",\"message\":\"scripted\"}}\n\n"
	}
}

// Troubles are the ways to fail and the state that each must lead to.
var Troubles = []struct {
	Fault string
	Want  thread.State
}{
	{"401", thread.StateUnauthorised},
	{"403", thread.StateUnauthorised},
	{"429", thread.StateLimited},
	{"429 until", thread.StateLimited},
	{"500", thread.StateUnavailable},
	{"529", thread.StateLimited},
	{"refused", thread.StateUnreachable},
	{"cut", thread.StateCut},
	{"page", thread.StateUnavailable},
	{"inside", thread.StateLimited},
}

// Moment is a state and when it was shown.
type Moment struct {
	thread.StateReport
	At time.Time
}

// watcher notes what clients are shown of a thread.
type watcher struct {
	t  *testing.T
	mu sync.Mutex
	// all states, one after the other, each other than the one before
	all []Moment
}

// Watch follows what is shown of a thread.
func Watch(t *testing.T, cl *client.Client, id thread.ID) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	events, err := api.Events.Open(ctx, cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{t: t}
	go func() {
		for e := range events {
			if e.Status == nil || e.ThreadID != id {
				continue
			}
			w.mu.Lock()
			if n := len(w.all); n == 0 || !w.all[n-1].Same(e.Status.State) {
				w.all = append(w.all, Moment{e.Status.State, time.Now()})
			}
			w.mu.Unlock()
		}
	}()
	return w
}

// Mark returns how many states were shown so far.
func (w *watcher) Mark() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all)
}

// After returns the states shown since a mark.
func (w *watcher) After(mark int) []Moment {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all[mark:])
}

// Until waits for a state after a mark and returns it.
func (w *watcher) Until(mark int, what string, limit time.Duration, ok func(thread.StateReport) bool) (Moment, error) {
	deadline := time.Now().Add(limit)
	for {
		all := w.After(mark)
		for _, s := range all {
			if ok(s.StateReport) {
				return s, nil
			}
		}
		if time.Now().After(deadline) {
			return Moment{}, fmt.Errorf("never %s in %v: %s", what, limit, Told(all))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Told describes what was shown, for people.
func Told(all []Moment) string {
	var out []string
	for _, s := range all {
		out = append(out, fmt.Sprintf("%s %s%s (%s)", s.At.Format("05.000"), s.State, s.More(), s.Why()))
	}
	return strings.Join(out, "; ")
}

// Is matches a state.
func Is(states ...thread.State) func(thread.StateReport) bool {
	return func(r thread.StateReport) bool { return slices.Contains(states, r.State) }
}

// Soon is how soon a state must be true.
const Soon = 2 * time.Second

// Steady checks that trouble, once shown, stays while the agent tries again, whatever kind it is of.
func Steady(all []Moment) error {
	for i, s := range all {
		if i > 0 && all[i-1].State.Trouble() && !s.State.Trouble() {
			return fmt.Errorf("it flaps: %s", Told(all))
		}
	}
	return nil
}
