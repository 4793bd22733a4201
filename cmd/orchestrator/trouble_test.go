package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// provider is a model's server that fails as it is told.
type provider struct {
	t     *testing.T
	model *model.Server
	addr  string

	mu     sync.Mutex
	fault  string
	failed time.Time // the newest failure was told
	srv    *http.Server
}

func newProvider(t *testing.T, m *model.Server) *provider {
	p := &provider{t: t, model: m, addr: "127.0.0.1:0"}
	p.listen()
	t.Cleanup(func() { p.srv.Close() })
	return p
}

func (p *provider) url() string { return "http://" + p.addr }

func (p *provider) listen() {
	p.t.Helper()
	var ln net.Listener
	await(p.t, "the provider's address", func() (ok bool) {
		var err error
		ln, err = net.Listen("tcp", p.addr)
		return err == nil
	})
	p.addr, p.srv = ln.Addr().String(), &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	srv := p.srv
	go func() { _ = srv.Serve(ln) }() // until it is closed
}

// fails sets how it fails from now on; "" is not at all, "refused" is that nobody listens.
func (p *provider) fails(how string) {
	p.mu.Lock()
	was := p.fault
	p.fault, p.failed = how, time.Time{}
	p.mu.Unlock()
	switch {
	case how == "refused":
		p.srv.Close()
	case was == "refused":
		p.listen()
	}
}

// since returns when the newest failure was told.
func (p *provider) since() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	fault := p.fault
	if p.failed.IsZero() {
		p.failed = time.Now()
	}
	p.mu.Unlock()
	say := func(status int, kind, body string) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	const plain = "application/json"
	switch fault {
	case "401", "403":
		say(map[string]int{"401": 401, "403": 403}[fault], plain, `{"type":"error","error":{"type":"authentication_error","message":"scripted"}}`)
	case "429":
		say(429, plain, `{"type":"error","error":{"type":"rate_limit_error","message":"scripted"}}`)
	case "429 until":
		w.Header().Set("Retry-After", "600")
		say(429, plain, `{"type":"error","error":{"type":"rate_limit_error","message":"scripted"}}`)
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
		time.Sleep(5 * time.Second)
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

// troubles are the ways to fail and the state that each must lead to.
var troubles = []struct {
	fault string
	want  thread.State
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

// moment is a state and when it was shown.
type moment struct {
	thread.StateReport
	at time.Time
}

// watcher notes what clients are shown of a thread.
type watcher struct {
	t  *testing.T
	mu sync.Mutex
	// all states, one after the other, each other than the one before
	all []moment
}

func watch(t *testing.T, cl *client.Client, id thread.ID) *watcher {
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
				w.all = append(w.all, moment{e.Status.State, time.Now()})
			}
			w.mu.Unlock()
		}
	}()
	return w
}

// mark returns how many states were shown so far.
func (w *watcher) mark() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all)
}

// after returns the states shown since a mark.
func (w *watcher) after(mark int) []moment {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all[mark:])
}

// until waits for a state after a mark and returns it.
func (w *watcher) until(mark int, what string, limit time.Duration, ok func(thread.StateReport) bool) (moment, error) {
	deadline := time.Now().Add(limit)
	for {
		all := w.after(mark)
		for _, s := range all {
			if ok(s.StateReport) {
				return s, nil
			}
		}
		if time.Now().After(deadline) {
			return moment{}, fmt.Errorf("never %s in %v: %s", what, limit, told(all))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// longest returns for how long a state was shown at most, until now.
func longest(all []moment, state thread.State) (d time.Duration) {
	for i, s := range all {
		end := time.Now()
		if i+1 < len(all) {
			end = all[i+1].at
		}
		if s.State == state {
			d = max(d, end.Sub(s.at))
		}
	}
	return d
}

func told(all []moment) string {
	var out []string
	for _, s := range all {
		out = append(out, fmt.Sprintf("%s %s%s (%s)", s.at.Format("05.000"), s.State, s.More(), s.Why()))
	}
	return strings.Join(out, "; ")
}

// is matches a state.
func is(states ...thread.State) func(thread.StateReport) bool {
	return func(r thread.StateReport) bool { return slices.Contains(states, r.State) }
}

// soon is how soon a state must be true.
const soon = 2 * time.Second

// steady checks that trouble, once shown, stays while the agent tries again, whatever kind it is of.
func steady(all []moment) error {
	for i, s := range all {
		if i > 0 && all[i-1].State.Trouble() && !s.State.Trouble() {
			return fmt.Errorf("it flaps: %s", told(all))
		}
	}
	return nil
}

// askVariable makes this test program an agent that asks a model for what it is told, line by line; its value is how
// often it tries again.
const askVariable = "ORCHESTRATOR_TEST_ASKS"

// asks is that agent. It says nothing of what it does.
func asks(tries string) int {
	var n int
	_, _ = fmt.Sscan(tries, &n)
	fmt.Println("ask away")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		body := fmt.Sprintf(`{"model":"claude-sonnet-4-6","stream":true,"max_tokens":9,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],`+
			`"messages":[{"role":"user","content":%q}]}`, lines.Text())
		err := errors.New("not tried")
		for i := 0; i <= n && err != nil; i++ {
			if i > 0 {
				time.Sleep(400 * time.Millisecond)
			}
			err = askOnce(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", body)
		}
		fmt.Println("ended:", err)
	}
	return 0
}

func askOnce(url, body string) error {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != 200 || !strings.Contains(string(b), "message_stop")) {
		err = errors.New(resp.Status)
	}
	return err
}

// TestTroubleIsShown has a program of which nothing is known but its requests meet every fault: what is shown of it is
// true within two seconds, stays so while it tries again, and is over with the next answer.
func TestTroubleIsShown(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	m := model.New(nil)
	t.Cleanup(m.Close)
	p := newProvider(t, m)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, askVariable+"=2", "ANTHROPIC_BASE_URL="+p.url())
	name := r.ok("new", "-a", "command", "asks", "--", self)
	cl := r.client()
	w := watch(t, cl, r.status(name).ID)
	ask := func(text string) {
		if err := send(t.Context(), cl, name, text); err != nil {
			t.Error(err)
		}
	}
	for _, c := range troubles {
		t.Run(c.fault, func(t *testing.T) {
			mark := w.mark()
			p.fails(c.fault)
			ask("please")
			s, err := w.until(mark, string(c.want), patience, is(c.want))
			if err != nil {
				t.Fatal(err)
			}
			if began := p.since(); c.fault != "refused" && s.at.Sub(began) > soon {
				t.Errorf("shown %v after it failed", s.at.Sub(began))
			}
			if s, err = w.until(mark, "retrying", patience, func(r thread.StateReport) bool { return r.Retrying }); err != nil {
				t.Fatal(err)
			}
			if left := time.Until(s.Until); (c.fault == "429 until") != (left > 5*time.Minute) {
				t.Errorf("until %v", s.Until)
			}
			// Two tries again, and nothing else is shown meanwhile.
			id := s.State
			time.Sleep(soon)
			if err := steady(w.after(mark)); err != nil || id != c.want {
				t.Errorf("%s: %v", id, err)
			}
			p.fails("")
			mark = w.mark()
			ask("again #say:ok")
			if _, err := w.until(mark, "answered", patience, is(thread.StateDone, thread.StateIdle)); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("answers of a millisecond", func(t *testing.T) {
		for i := range 10 {
			mark := w.mark()
			ask(fmt.Sprintf("quick %d #say:ok", i))
			if _, err := w.until(mark, "answered", patience, is(thread.StateDone, thread.StateIdle)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			if all := w.after(mark); all[len(all)-1].State == thread.StateWorking {
				t.Fatalf("left working: %s", told(all))
			}
		}
	})
	if told := r.ok("why", name); !strings.Contains(told, "stop reason") {
		t.Errorf("why: %s", told)
	}
}
