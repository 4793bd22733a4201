package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

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
				if e.Status == 429 && e.Main && e.Answer == nil && strings.Contains(e.Err, "a minute") {
					refused++
				}
			}
			if refused != 1 {
				t.Errorf("the observer heard %+v", e)
			}
		})
	}
}

func TestSpendingIsCapped(t *testing.T) {
	for name, tc := range map[string]struct {
		caps   gateway.Caps
		spent  map[thread.ID]float64
		passes int // requests before the first refusal
		says   string
	}{
		"own":           {gateway.Caps{USD: 0.0001}, nil, 1, "limits.usd"},
		"own, before":   {gateway.Caps{USD: 5}, map[thread.ID]float64{"t1": 5.01}, 0, "has cost $5.01, and its cap is $5.00"},
		"own, of other": {gateway.Caps{USD: 5}, map[thread.ID]float64{"t2": 9}, 3, ""},
		"all":           {gateway.Caps{TotalUSD: 8.9, USD: 50}, map[thread.ID]float64{"t2": 9}, 0, "limits.total_usd"},
		"none":          {gateway.Caps{}, map[thread.ID]float64{"t1": 900}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, "ok") }),
				func(o *gateway.Options) {
					o.Caps, o.Spent = tc.caps, func() map[thread.ID]float64 { return tc.spent }
				})
			for i := range 3 {
				resp, body, err := post(t, w.base+"/v1/messages", request("x"))
				if err != nil {
					t.Fatal(err)
				}
				w.obs.wait(t, i+1)
				if i < tc.passes {
					if resp.StatusCode != 200 {
						t.Fatalf("request %d: %d %s", i, resp.StatusCode, body)
					}
					continue
				}
				kind, message := errorOf(t, body)
				if resp.StatusCode != http.StatusPaymentRequired || kind != "billing_error" ||
					!strings.Contains(message, tc.says) || resp.Header.Get("Retry-After") != "" {
					t.Errorf("request %d: %d %s", i, resp.StatusCode, body)
				}
			}
			if told := w.obs.notices(t, tc.passes < 3); told > 1 {
				t.Errorf("people were told %d times", told)
			}
		})
	}
}

func TestUnknownPricesAreSaidAndNotCounted(t *testing.T) {
	w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range answerEvents("ok") {
			_, _ = w.Write([]byte(strings.ReplaceAll(e, "claude-sonnet-4-6", "nobody-knows")))
		}
	}), func(o *gateway.Options) { o.Caps.USD = 0.0000001 })
	for i := range 3 {
		resp, _, err := post(t, w.base+"/v1/messages", strings.Replace(request("x"), "claude-sonnet-4-6", "nobody-knows", 1))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		w.obs.wait(t, i+1)
	}
	w.obs.notices(t, true)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if len(w.obs.told) != 1 || !strings.Contains(w.obs.told[0], `"nobody-knows"`) {
		t.Errorf("told %q", w.obs.told)
	}
}
