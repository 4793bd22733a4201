package gateway_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// TestKindsOfFailure checks what is reported for each way in which a provider fails.
func TestKindsOfFailure(t *testing.T) {
	events := answerEvents("x")
	say := func(kind string, status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	const sse, plain, page = "text/event-stream", "application/json", "text/html; charset=utf-8"
	inside := func(kind string) string {
		return fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":%q,\"message\":\"told\"}}\n\n", kind)
	}
	for _, c := range []struct {
		name  string
		h     http.HandlerFunc
		fault thread.Fault
		err   string
		until time.Duration
	}{
		{"an answer", say(sse, 200, strings.Join(events, "")), thread.FaultNone, "", 0},
		{"429", say(plain, 429, `{"error":{"type":"rate_limit_error","message":"slow"}}`, "Retry-After", "90"),
			thread.FaultNone, "rate_limit_error: slow", 90 * time.Second},
		{"429 in words", say(plain, 429, `{"error":{"message":"try again in 5m"}}`), thread.FaultNone, "try again in 5m",
			5 * time.Minute},
		{"401", say(plain, 401, `{}`), thread.FaultNone, "", 0},
		{"a page", say(page, 200, "<html>log in to the hotel"), thread.FaultNoAnswer,
			"the response is not a model's answer but text/html", 0},
		{"a page with 502", say(page, 502, "<html>bad gateway"), thread.FaultNone, "<html>bad gateway", 0},
		{"nothing", say("", 200, ""), thread.FaultNoAnswer, "the response is not a model's answer", 0},
		{"an empty object", say(plain, 200, "{}"), thread.FaultNoAnswer, "the response is not a model's answer", 0},
		{"an overload inside", say(sse, 200, events[0]+inside("overloaded_error")), thread.FaultLimited,
			"overloaded_error: told", 0},
		{"a refusal inside", say(sse, 200, inside("authentication_error")), thread.FaultUnauthorised,
			"authentication_error: told", 0},
		{"a failure inside", say(sse, 200, inside("api_error")), thread.FaultNoAnswer, "api_error: told", 0},
		{"a wrong request inside", say(sse, 200, inside("invalid_request_error")), thread.FaultError,
			"invalid_request_error: told", 0},
		{"an error as the whole answer",
			say(plain, 200, `{"type":"error","error":{"type":"rate_limit_error","message":"try again in 10s"}}`),
			thread.FaultLimited, "rate_limit_error", 10 * time.Second},
		{"no end", say(sse, 200, strings.Join(events[:4], "")), thread.FaultCut, "ended before", 0},
		{"broken off", func(w http.ResponseWriter, r *http.Request) {
			say(sse, 200, strings.Join(events[:4], ""))(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, thread.FaultCut, "cut", 0},
		{"closed without an answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			thread.FaultCut, "cannot reach", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := open(t, serve(t, c.h), nil)
			before := time.Now()
			_, _, _ = post(t, w.base+"/v1/messages", request("hello")) // how the agent sees it others test
			e := w.obs.wait(t, 1)[0]
			if e.Fault != c.fault || !strings.Contains(e.Err, c.err) || (e.Err == "") != (c.err == "" && e.Status == 200) {
				t.Errorf("status %d, fault %q, error %q", e.Status, e.Fault, e.Err)
			}
			if left := e.Until.Sub(before); c.until == 0 && !e.Until.IsZero() || c.until != 0 &&
				(left < c.until || left > c.until+patience) {
				t.Errorf("until %v", left)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = ln.Close()
		w := open(t, "http://"+ln.Addr().String(), nil)
		_, _, _ = post(t, w.base+"/v1/messages", request("hello"))
		if e := w.obs.wait(t, 1)[0]; e.Fault != thread.FaultUnreachable || e.Status != 0 {
			t.Errorf("%+v", e)
		}
	})
}

// TestStartsCountFromWhenTheyWere: an answer of a millisecond is told whole after its end, in order, with the times at
// which things happened.
func TestStartsCountFromWhenTheyWere(t *testing.T) {
	w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }), nil)
	for range 20 {
		_, _, _ = post(t, w.base+"/v1/messages", request("hello"))
	}
	ended := w.obs.wait(t, 20)
	w.obs.mu.Lock()
	defer w.obs.mu.Unlock()
	for i, e := range ended {
		if b := w.obs.begun[i]; !b.At.Equal(e.Started) || e.Ended.Before(b.At) {
			t.Errorf("%d: began %v, ended %v", i, b.At, e.Ended)
		}
	}
}

// TestRepeatsAreKnown: a request that repeats a failed one is marked as such, and reported once it is answered.
func TestRepeatsAreKnown(t *testing.T) {
	status := make(chan int, 10)
	w := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if s := <-status; s != 200 {
			w.WriteHeader(s)
			return
		}
		streamAnswer(w, "x")
	}), nil)
	for i, c := range []struct {
		prompt string
		status int
		again  bool
		stages int // told so far
	}{
		{"one", 429, false, 0}, {"one", 529, true, 0}, {"one", 200, true, 1}, {"one", 200, false, 1},
		{"two", 401, false, 1}, {"three", 200, false, 1},
	} {
		status <- c.status
		_, _, _ = post(t, w.base+"/v1/messages", request(c.prompt))
		w.obs.wait(t, i+1)
		w.obs.mu.Lock()
		if b := w.obs.begun[i]; b.Again != c.again || len(w.obs.stages) != c.stages {
			t.Errorf("%s with %d: again %v, stages %v", c.prompt, c.status, b.Again, w.obs.stages)
		}
		w.obs.mu.Unlock()
	}
}

// TestNoAnswerIsTold: a provider that cannot be reached or does not begin to answer is reported before it fails.
func TestNoAnswerIsTold(t *testing.T) {
	quick := func(o *gateway.Options) { o.ConnectSlow, o.AnswerSlow = 20*time.Millisecond, 40*time.Millisecond }
	go1 := make(chan struct{})
	w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		<-go1
		streamAnswer(w, "x")
	}), quick)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = post(t, w.base+"/v1/messages", request("hello"))
	}()
	w.obs.until(t, "silence", func() bool { return len(w.obs.stages) == 1 })
	close(go1)
	<-done
	w.obs.wait(t, 1)
	if want := []thread.Stage{thread.StageSilent, thread.StageAnswering}; !slices.Equal(w.obs.stages, want) {
		t.Errorf("told %v", w.obs.stages)
	}

	hang := make(chan struct{})
	w = open(t, "http://127.0.0.1:1", func(o *gateway.Options) {
		quick(o)
		o.Transport = hanging(hang)
	})
	done = make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = post(t, w.base+"/v1/messages", request("hello"))
	}()
	w.obs.until(t, "no connection", func() bool { return len(w.obs.stages) == 1 })
	close(hang)
	<-done
	if e := w.obs.wait(t, 1)[0]; e.Fault != thread.FaultUnreachable || w.obs.stages[0] != thread.StageUnconnected {
		t.Errorf("told %v, fault %q", w.obs.stages, e.Fault)
	}
}

// hanging is a way to an upstream that takes no connection.
type hanging chan struct{}

func (h hanging) RoundTrip(*http.Request) (*http.Response, error) {
	<-h
	return nil, &net.OpError{Op: "dial", Err: io.ErrClosedPipe}
}

// TestQuotasAreTold has an answer come with its provider's limits: the exchange holds them.
func TestQuotasAreTold(t *testing.T) {
	w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("anthropic-ratelimit-requests-limit", "50")
		_, _ = io.WriteString(w, strings.Join(answerEvents("x"), ""))
	}), nil)
	if _, _, err := post(t, w.base+"/v1/messages", request("hello")); err != nil {
		t.Fatal(err)
	}
	e := w.obs.wait(t, 1)[0]
	if len(e.Quotas) != 1 || e.Quotas[0].Window != "requests" || e.Quotas[0].Limit == nil || *e.Quotas[0].Limit != 50 {
		t.Errorf("told %+v", e.Quotas)
	}
}
