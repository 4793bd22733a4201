package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// errorOf reads a refusal's message in the form of a format.
func errorOf(t *testing.T, body string) (kind, message string) {
	t.Helper()
	var e struct {
		Error struct {
			Type, Status, Message string
		}
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if kind = e.Error.Type; kind == "" {
		kind = e.Error.Status
	}
	return kind, e.Error.Message
}

var paths = map[string]string{
	"anthropic": "/v1/messages", "responses": "/v1/responses", "chat": "/v1/chat/completions",
	"gemini": "/v1beta/models/g:generateContent",
}

func TestRateIsCapped(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic": "rate_limit_error", "responses": "requests", "chat": "requests", "gemini": "RESOURCE_EXHAUSTED",
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			w := open(t, serve(t, rec.ServeHTTP), func(o *gateway.Options) { o.Caps.RequestsPerMinute = 2 })
			for range 2 {
				if resp, _, err := post(t, w.base+paths[name], request("x")); err != nil || resp.StatusCode != 200 {
					t.Fatalf("below the cap: %v, %v", resp, err)
				}
			}
			resp, body, err := post(t, w.base+paths[name], request(strings.Repeat("x", 2<<20)))
			if err != nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "30" {
				t.Fatalf("above the cap: %v, %v", resp, err)
			}
			kind, message := errorOf(t, body)
			if kind != want || !strings.Contains(message, "2 requests a minute") ||
				!strings.Contains(message, "limits.requests_per_minute") {
				t.Errorf("refused with %q: %s", kind, message)
			}
			if resp, err := client(t).Get(w.base + "/v1/models"); err != nil || resp.StatusCode != 200 {
				t.Errorf("a list of models: %v, %v", resp, err)
			} else {
				resp.Body.Close()
			}
			other, _, err := w.Route("t2",
				thread.RouteSpec{Agent: "x", Upstreams: map[string]string{"": serve(t, rec.ServeHTTP)}})
			if err != nil {
				t.Fatal(err)
			}
			if resp, _, err := post(t, other+paths[name], request("x")); err != nil || resp.StatusCode != 200 {
				t.Errorf("another thread: %v, %v", resp, err)
			}
			if n := len(rec.got); n != 4 {
				t.Errorf("%d requests came upstream, want 4", n)
			}
			e := w.obs.wait(t, 4)
			refused := 0
			for _, e := range e {
				if e.Status == 429 && e.Main && e.Answer == nil && e.Fault == thread.FaultOurs && strings.Contains(e.Err, "a minute") {
					refused++
				}
			}
			if refused != 1 {
				t.Errorf("the observer heard %+v", e)
			}
		})
	}
}

// patient opens a route for a program that ends where its request is refused.
func patient(t *testing.T, w *world, up string) (base string) {
	t.Helper()
	base, _, err := w.Route("run", thread.RouteSpec{Agent: "claude", Upstreams: map[string]string{"": up}, Patient: true})
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// TestRunsWaitForTheirRate: requests of a run that come too early are sent later, and none is refused; one that is given up
// while it waits is not sent.
func TestRunsWaitForTheirRate(t *testing.T) {
	const perMinute = 60
	rec := &recorder{}
	up := serve(t, rec.ServeHTTP)
	w := open(t, up, func(o *gateway.Options) { o.Caps.RequestsPerMinute = perMinute })
	base := patient(t, w, up)
	began := time.Now()
	for n := range perMinute + 2 {
		if resp, body, err := post(t, base+paths["anthropic"], request("x")); err != nil || resp.StatusCode != 200 {
			t.Fatalf("request %d: %v %s %v", n+1, resp, body, err)
		}
	}
	if passed := time.Since(began); passed < 1900*time.Millisecond {
		t.Errorf("the cap was passed: %d requests in %v", perMinute+2, passed)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+paths["anthropic"], strings.NewReader(request("given up")))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := client(t).Do(r); err == nil {
		resp.Body.Close()
		t.Errorf("a request that was given up: %v", resp.Status)
	}
	if resp, _, err := post(t, base+paths["anthropic"], request("x")); err != nil || resp.StatusCode != 200 {
		t.Fatalf("the next one: %v, %v", resp, err)
	}
	for _, e := range w.obs.wait(t, perMinute+3) {
		if e.Status != 200 || e.Prompt == "given up" {
			t.Errorf("the observer heard %+v", e)
		}
	}
}
