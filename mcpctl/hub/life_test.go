package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/process"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/ground/rpc"
)

// TestP1NothingRunsUnapproved: Launch is asked before every start, and what it refuses is not started.
func TestP1NothingRunsUnapproved(t *testing.T) {
	for _, test := range []struct {
		err    error
		status hub.Status
	}{
		{hub.ErrUnapproved, hub.Unapproved}, {hub.ErrNeedsInput, hub.NeedsInput}, {hub.ErrQuarantined, hub.Quarantined},
	} {
		t.Run(string(test.status), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "starts")
			var refused atomic.Bool
			refused.Store(true)
			r := newRig(t, func(cfg *hub.Config) {
				cfg.Launch = func(ctx context.Context, s hub.Server, _ thread.ID, dir string) (definition.Launch, []string, error) {
					if refused.Load() {
						return definition.Launch{}, nil, fmt.Errorf("%w: its command is new", test.err)
					}
					return launch(ctx, s, "", dir)
				}
			})
			s, c := trusted(server("starts="+file)), r.by("t1")
			refuse := func(when string) {
				t.Helper()
				began := time.Now()
				for range 10 {
					if _, err := r.call(context.Background(), s, c, "echo", "{}"); !errors.Is(err, test.err) {
						t.Fatalf("%s: %v", when, err)
					}
				}
				if _, err := r.Manifest(context.Background(), server("other"), c); !errors.Is(err, test.err) {
					t.Errorf("%s, a list: %v", when, err)
				}
				r.Prewarm(s, c)
				_ = r.Restart(context.Background(), s.Hash)
				if got := r.state(s.Hash); got.Status != test.status || !strings.Contains(got.Reason, "its command is new") {
					t.Errorf("%s: it is %s: %s", when, got.Status, got.Reason)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("%s: it took %v", when, took)
				}
			}
			refuse("before it is approved")
			if n := len(linesIn(file)); n != 0 {
				t.Fatalf("%d starts of what is not approved", n)
			}
			refused.Store(false)
			r.must(s, c, "echo", "{}") // at once
			refused.Store(true)
			kill(t, r.state(s.Hash).PID, syscall.SIGKILL)
			await.Until(t, "its end is seen", func() bool { return r.state(s.Hash).PID == 0 })
			refuse("after it is not approved any more")
			if n := len(linesIn(file)); n != 1 {
				t.Errorf("%d starts, want 1", n)
			}
		})
	}
}

func TestMissingProgram(t *testing.T) {
	r := newRig(t, func(cfg *hub.Config) { cfg.Clock = newClock() }) // time stands still: nobody waits
	s, c := server(), r.by("t1")
	s.Definition.Command = "none-at-all"
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for range 3 {
		_, err := r.call(ctx, s, c, "echo", "{}")
		if !errors.Is(err, process.ErrNoProgram) || !strings.Contains(err.Error(), "none-at-all") {
			t.Errorf("the call ends with %v", err)
		}
	}
	if launches, _, _ := r.seen(); launches != 1 {
		t.Errorf("it was tried %d times", launches)
	}
	if got := r.state(s.Hash); got.Status != hub.Failed || !strings.Contains(got.Reason, "no such program") {
		t.Errorf("it is %s: %s", got.Status, got.Reason)
	}
}

// TestStop: a server that is stopped ends its calls, and is not started by them again.
func TestStop(t *testing.T) {
	dir := t.TempDir()
	starts, witness := filepath.Join(dir, "starts"), filepath.Join(dir, "witness")
	r := newRig(t, nil)
	s, c := trusted(server("starts="+starts, "witness="+witness)), r.by("t1")
	ended := make(chan error, 1)
	go func() {
		_, err := r.call(context.Background(), s, c, "echo", `{"ms":60000}`)
		ended <- err
	}()
	await.Until(t, "the call is carried out", func() bool { return len(linesIn(witness)) == 1 })
	r.Stop(s.Hash)
	if err := <-ended; !errors.Is(err, hub.ErrStopped) || !errors.Is(err, rpc.ErrUnsure) {
		t.Errorf("the call ends with %v", err)
	}
	if got := r.state(s.Hash); got.Status != hub.Cold || running(starts) != 0 || got.PID != 0 {
		t.Errorf("it is %+v, %d processes run", got, running(starts))
	}
	if err := r.Restart(context.Background(), s.Hash); err != nil || len(linesIn(starts)) != 1 {
		t.Errorf("a restart of what does not run: %v, %d starts", err, len(linesIn(starts)))
	}
	r.must(s, c, "echo", "{}")
	if err := r.Restart(context.Background(), s.Hash); err != nil || len(linesIn(starts)) != 3 || running(starts) != 1 {
		t.Errorf("a restart: %v, %d starts, %d run", err, len(linesIn(starts)), running(starts))
	}
	if got := r.state(s.Hash); got.Status != hub.Ready || strings.Contains(r.statuses(s.Hash), "backoff") {
		t.Errorf("it is %s after %s", got.Status, r.statuses(s.Hash))
	}
}

// TestStopDuringStart: a start is given up, whoever waits for it.
func TestStopDuringStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	r := newRig(t, nil)
	s, c := server("silent", "starts="+file), r.by("t1")
	ended := make(chan error, 1)
	go func() {
		_, err := r.call(context.Background(), s, c, "echo", "{}")
		ended <- err
	}()
	await.Until(t, "it is being started", func() bool { return len(linesIn(file)) == 1 })
	r.Stop(s.Hash)
	if err := <-ended; !errors.Is(err, hub.ErrStopped) {
		t.Errorf("the call ends with %v", err)
	}
	if got := r.state(s.Hash); got.Status != hub.Cold || running(file) != 0 {
		t.Errorf("it is %+v, %d processes run", got, running(file))
	}
}

// TestBackoff: a server that does not start is left alone for longer each time, and at last for long.
func TestBackoff(t *testing.T) {
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) {
		cfg.Clock = clk
		cfg.Jitter = func() float64 { return 1 }
	})
	s, c := server("crash"), r.by("t1")
	var waits []time.Duration
	for range 6 {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			await.Until(t, "it has failed", func() bool {
				st := r.state(s.Hash)
				return (st.Status == hub.Backoff || st.Status == hub.Failed) && !st.Next.IsZero()
			})
			cancel()
		}()
		_, _ = r.call(ctx, s, c, "echo", "{}")
		<-ctx.Done()
		state := r.state(s.Hash)
		waits = append(waits, state.Next.Sub(clk.Now()))
		clk.advance(state.Next.Sub(clk.Now()) + time.Millisecond)
	}
	want := "[1.2s 2.4s 4.8s 9.6s 5m0s 5m0s]"
	if got := fmt.Sprint(waits); got != want {
		t.Errorf("it is left alone for %s, want %s", got, want)
	}
}

// TestBriefServer: a server that starts and ends before it was of use counts as one that does not start.
func TestBriefServer(t *testing.T) {
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) { cfg.Clock = clk })
	s, c := server("brief"), r.by("t1")
	for i := range 5 {
		r.Prewarm(s, c)
		want := hub.Backoff
		if i == 4 {
			want = hub.Failed
		}
		await.Until(t, fmt.Sprintf("it has failed %d times", i+1), func() bool {
			got := r.state(s.Hash)
			return got.Starts == i+1 && got.Status == want && got.Reason == "exit status 4"
		})
		clk.advance(20 * time.Second)
	}
}

// TestListChanged: lists that change are read anew and told; a server that says so all the time is not read all the time.
func TestListChanged(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			r := newRig(t, nil)
			s, c := server("rug", era), r.by("t1")
			r.must(s, c, "echo", "{}")
			first, _ := r.Cached(s)
			if _, _, changed := r.seen(); len(changed) > 1 {
				t.Errorf("told %d times of the first list", len(changed))
			}
			await.Until(t, "the change is told", func() bool {
				r.must(s, c, "echo", "{}") // a modern server is not listened to at once
				_, _, changed := r.seen()
				return len(changed) == 2
			})
			second, _ := r.Cached(s)
			was, _ := first.Tool("echo")
			is, _ := second.Tool("echo")
			if strings.Contains(string(was.Raw), "id_rsa") || !strings.Contains(string(is.Raw), "id_rsa") {
				t.Errorf("the tool was %s and is %s", was.Raw, is.Raw)
			}
			r.must(s, c, "echo", "{}")
			time.Sleep(20 * time.Millisecond)
			if _, _, changed := r.seen(); len(changed) != 2 {
				t.Errorf("told %d times", len(changed))
			}
		})
	}
}

// TestListsAreReadOnceASecond: however often a server says that they have changed.
func TestListsAreReadOnceASecond(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lists")
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) { cfg.Clock = clk })
	s, c := server("rug", "lists="+file), r.by("t1")
	many := func(want int) {
		t.Helper()
		for range 50 {
			r.must(s, c, "echo", "{}")
		}
		await.Until(t, "the lists are read", func() bool { return len(linesIn(file)) >= want })
		time.Sleep(10 * time.Millisecond)
		if n := len(linesIn(file)); n != want {
			t.Errorf("the lists were read %d times, want %d", n, want)
		}
	}
	many(2)
	clk.advance(900 * time.Millisecond)
	many(2)
	clk.advance(200 * time.Millisecond)
	many(3)
}

// TestModern: a server that speaks the stateless protocol only works like any other.
func TestModern(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	clk := newClock()
	r := newRig(t, func(cfg *hub.Config) { cfg.Clock = clk })
	s, c := server("modern", "starts="+file), r.by("t1")
	m, err := r.Manifest(context.Background(), s, c)
	if err != nil || m.Protocol != "2026-07-28" || len(m.Tools) != 18 {
		t.Fatalf("%s with %d tools: %v", m.Protocol, len(m.Tools), err)
	}
	got, err := r.Call(context.Background(), s, c, "test/params", json.RawMessage(
		`{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"x":1}}`))
	want := `{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"orchestrator","version":"0"},` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","x":1}}`
	if err != nil || string(got) != want {
		t.Errorf("the server got %s %v, want %s", got, err, want)
	}
	c.ask = func(string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"accept"}`), nil
	}
	text := r.must(s, c, "elicit", "{}")
	if !strings.HasPrefix(text, `"s1" {"q":{"action":"accept"},"r":{"roots":[`) {
		t.Errorf("asked, it got %s", text)
	}
	c.ask = nil
	var refused *rpc.Error
	if _, err := r.call(context.Background(), s, c, "elicit", "{}"); !errors.As(err, &refused) {
		t.Errorf("without an answer: %v", err)
	}
	probed(t, clk, r, file)
}

// remote is a server on the other end of a connection.
type remote struct{}

func (remote) Request(_ context.Context, m rpc.Message) (json.RawMessage, error) {
	switch m.Method {
	case "initialize":
		return json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{}}`), nil
	case "tools/list":
		return json.RawMessage(`{"tools":[]}`), nil
	}
	return m.Params, nil
}
func (remote) Notification(rpc.Message) {}

// denied is a stream whose server does not accept requests any more.
type denied struct {
	rpc.Stream
	now *atomic.Bool
}

func (d denied) Write(ctx context.Context, m rpc.Message) error {
	if d.now.Load() {
		return fmt.Errorf("401: %w", hub.ErrNeedsAuth)
	}
	return d.Stream.Write(ctx, m)
}

// TestRemote: a remote server is called in the same way, and needs a person if it says so.
func TestRemote(t *testing.T) {
	var signedIn, expired atomic.Bool
	r := newRig(t, func(cfg *hub.Config) {
		cfg.Dial = func(_ context.Context, l definition.Launch, _ []string) (rpc.Stream, error) {
			if !signedIn.Load() {
				return nil, fmt.Errorf("%s: %w", l.Command, hub.ErrNeedsAuth)
			}
			ours, theirs := net.Pipe()
			go func() { _ = rpc.NewPeer(rpc.NewLines(theirs, theirs, theirs, nil), remote{}).Run() }()
			return denied{rpc.NewLines(ours, ours, ours, nil), &expired}, nil
		}
	})
	s, c := server(), r.by("t1")
	s.Definition.Transport = definition.HTTP
	needs := func(when string) {
		t.Helper()
		_, err := r.Call(context.Background(), s, c, "x", nil)
		if got := r.state(s.Hash); !errors.Is(err, hub.ErrNeedsAuth) || got.Status != hub.NeedsAuth {
			t.Errorf("%s: %v, it is %s", when, err, got.Status)
		}
	}
	needs("before it is signed in")
	signedIn.Store(true)
	if err := r.Restart(context.Background(), s.Hash); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Call(context.Background(), s, c, "x", json.RawMessage(`{"n":1}`)); err != nil || string(got) != `{"n":1}` {
		t.Errorf("got %s %v", got, err)
	}
	expired.Store(true)
	needs("after that is not valid any more")
	signedIn.Store(false)
	needs("and again")
}
