package gateway_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// door is the way to an upstream that can be shut: dials fail as they do at a closed port.
type door struct {
	mu    sync.Mutex
	shut  int // dials that fail before one does not; below 0 all do
	dials []time.Time
}

func (d *door) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	d.dials = append(d.dials, time.Now())
	shut := d.shut != 0
	if d.shut > 0 {
		d.shut--
	}
	d.mu.Unlock()
	if shut {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	}
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

func (d *door) set(shut int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = shut
}

func (d *door) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.dials)
}

// throughDoor opens a gateway whose connections go through a door.
func throughDoor(t *testing.T, d *door, h http.HandlerFunc) *world {
	t.Helper()
	tr := &http.Transport{DialContext: d.dial, DisableCompression: true, DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return open(t, serve(t, h), func(o *gateway.Options) { o.Transport = tr })
}

// TestRepeatsWithoutAConnection: what reached nobody is sent again, a few times, spread in time; the answer comes as
// if nothing had been.
func TestRepeatsWithoutAConnection(t *testing.T) {
	t.Parallel()
	d := &door{shut: 2}
	w := throughDoor(t, d, func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, "x") })
	resp, _, err := post(t, w.base+"/v1/messages", request("hello"))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
	if n := d.count(); n != 3 {
		t.Errorf("%d dials", n)
	}
	if e := w.obs.wait(t, 1)[0]; e.Fault != thread.FaultNone || e.Status != http.StatusOK {
		t.Errorf("told %+v", e)
	}
	d.set(-1)
	begun := time.Now()
	resp, body, err := post(t, w.base+"/v1/messages", request("again"))
	if err != nil || resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "cannot reach") {
		t.Fatalf("%v, %v, %s", resp, err, body)
	}
	if n := d.count() - 3; n != 4 || time.Since(begun) > 3*time.Second+patience {
		t.Errorf("%d dials in %v", n, time.Since(begun))
	}
}

// TestNothingThatLeftIsRepeated: an upstream that takes a request and hangs up gets it once.
func TestNothingThatLeftIsRepeated(t *testing.T) {
	t.Parallel()
	var taken atomic.Int32
	w := open(t, script(t, func(*net.TCPConn) { taken.Add(1) }), nil)
	if resp, _, err := post(t, w.base+"/v1/messages", request("hello")); err == nil && resp.StatusCode < 500 {
		t.Fatalf("%v, %v", resp, err)
	}
	w.obs.wait(t, 1)
	if n := taken.Load(); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

// TestNoRepeatWhileTheAgentWaits: an agent that was told when to ask again decides itself.
func TestNoRepeatWhileTheAgentWaits(t *testing.T) {
	t.Parallel()
	d := &door{}
	w := throughDoor(t, d, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, _, _ = post(t, w.base+"/v1/messages", request("hello"))
	d.set(-1)
	_, _, _ = post(t, w.base+"/v1/messages", request("hello"))
	if n := d.count(); n != 2 {
		t.Errorf("%d dials for two requests", n)
	}
}

// TestBreaker: after a few requests that reached nobody the next ones are answered at once, in the agent's format and
// with the time to ask again; the next real request after that looks, alone, whether the upstream is back.
func TestBreaker(t *testing.T) {
	t.Parallel()
	d := &door{shut: -1}
	w := throughDoor(t, d, func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, "x") })
	var wait int
	for range 20 {
		resp, body, err := post(t, w.base+"/v1/messages", request("hello"))
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusServiceUnavailable {
			continue
		}
		if wait, err = strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || wait < 1 ||
			!strings.Contains(body, `"type":"error"`) {
			t.Fatalf("%v, %v, %s", resp.Header, err, body)
		}
		break
	}
	if wait == 0 {
		t.Fatal("it never opened")
	}
	before := d.count()
	begun := time.Now()
	for range 5 {
		_, _, _ = post(t, w.base+"/v1/messages", request("hello"))
	}
	if n := d.count() - before; n != 0 || time.Since(begun) > patience {
		t.Errorf("%d dials while it was open", n)
	}
	d.set(0)
	time.Sleep(time.Until(begun.Add(time.Duration(wait) * time.Second)))
	var all sync.WaitGroup
	var ok atomic.Int32
	for range 8 {
		all.Go(func() {
			if resp, _, err := post(t, w.base+"/v1/messages", request("hello")); err == nil && resp.StatusCode == http.StatusOK {
				ok.Add(1)
			}
		})
	}
	all.Wait()
	if ok.Load() == 0 {
		t.Error("nothing was let through to look")
	}
	if resp, _, err := post(t, w.base+"/v1/messages", request("hello")); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("it is back, and the next request gets %v, %v", resp, err)
	}
}

// TestErrorsOfTheProviderOpenNothing: what was answered was reached, whatever the answer.
func TestErrorsOfTheProviderOpenNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(529)
	}), nil)
	for range 12 {
		if resp, _, err := post(t, w.base+"/v1/messages", request("hello")); err != nil || resp.StatusCode != 529 {
			t.Fatalf("%v, %v", resp, err)
		}
	}
	if asked.Load() != 12 {
		t.Errorf("%d of 12 requests came", asked.Load())
	}
}

// TestJitter: no two of many clients that failed together come back within a millisecond of each other too often.
func TestJitter(t *testing.T) {
	t.Parallel()
	d := &door{shut: -1}
	tr := &http.Transport{DialContext: d.dial, DisableKeepAlives: true}
	var dials sync.Map
	w := open(t, "http://127.0.0.1:1", func(o *gateway.Options) {
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Body != nil {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			list, _ := dials.LoadOrStore(r.Header.Get("X-Client"), &[]time.Time{})
			*list.(*[]time.Time) = append(*list.(*[]time.Time), time.Now())
			return tr.RoundTrip(r)
		})
	})
	for i := range 2 { // below what opens the breaker
		_, _, _ = post(t, w.base+"/v1/messages", request("hello"), "X-Client", strconv.Itoa(i))
	}
	seen := map[time.Duration]bool{}
	dials.Range(func(_, list any) bool {
		times := *list.(*[]time.Time)
		for i := 1; i < len(times); i++ {
			seen[times[i].Sub(times[i-1]).Round(time.Millisecond)] = true
		}
		return true
	})
	if len(seen) < 5 {
		t.Errorf("the waits are %v", seen)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
