package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
	"orchestrator/thread/budget"
)

// asking is a gateway whose rewriter reads requests: those that ask for a title are side requests.
func asking(t *testing.T, change func(*gateway.Options), then func(http.ResponseWriter, *http.Request)) (*world, *recorder) {
	t.Helper()
	rec := &recorder{then: then}
	if then == nil {
		rec.then = func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, "a summary") }
	}
	read := &rewriter{then: func(o gateway.Outgoing) gateway.Rewritten {
		q, err := o.Codec.Request(o.Call)
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(string(o.Call.Body), "title") {
			q.Purpose = wire.PurposeTitle
		}
		return gateway.Rewritten{Request: &q}
	}}
	return open(t, serve(t, rec.ServeHTTP), func(o *gateway.Options) {
		o.Rewriter = read
		if change != nil {
			change(o)
		}
	}), rec
}

func (rec *recorder) count() int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return len(rec.got)
}

func question() gateway.Question {
	return gateway.Question{Body: []byte(request("write a summary")), Purpose: wire.PurposeSummary, Limit: 1 << 20}
}

// say sends a main request with credentials.
func say(t *testing.T, w *world, text, key string) {
	t.Helper()
	if _, _, err := post(t, w.base+"/v1/messages?beta=true", pack(t, request(text), "gzip"), "Content-Encoding", "gzip",
		"X-Api-Key", key, "Idempotency-Key", "once", "Anthropic-Beta", "own"); err != nil {
		t.Fatal(err)
	}
}

// TestAsk: a question goes where the last main request went, with its credentials, and is a side request to everybody.
func TestAsk(t *testing.T) {
	w, rec := asking(t, nil, nil)
	if _, err := w.Ask(t.Context(), "t1", question()); !errors.Is(err, gateway.ErrNoSender) {
		t.Errorf("before any request: %v", err)
	}
	say(t, w, "fix it", "sk-key-1")
	say(t, w, "fix it again", "sk-key-2")
	say(t, w, "a title", "sk-side")
	w.obs.wait(t, 3)
	e, err := w.Ask(t.Context(), "t1", question())
	if err != nil || e.Text != "a summary" || e.Main || e.Purpose != "summary" || e.Usage.Output == 0 || len(e.Items) > 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	got := rec.last(t)
	switch {
	case string(got.body) != request("write a summary"), got.header.Get("X-Api-Key") != "sk-key-2",
		got.header.Get("Anthropic-Beta") != "own", !strings.HasSuffix(got.uri, "/v1/messages?beta=true"):
		t.Errorf("upstream got %s, %v: %s", got.uri, got.header, got.body)
	case got.header.Get("Idempotency-Key") != "", got.header.Get("Content-Encoding") != "":
		t.Errorf("the header says what was true of another request: %v", got.header)
	}
	if ended := w.obs.wait(t, 4); ended[3].Purpose != "summary" || ended[3].Main {
		t.Errorf("reported as %+v", ended[3])
	}
	if logs := w.logs.String(); strings.Contains(logs, "sk-key") || strings.Contains(logs, "summary") && strings.Contains(logs, "write a") {
		t.Errorf("logged: %s", logs)
	}
	w.Unroute("t1")
	if _, err := w.Ask(t.Context(), "t1", question()); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("without a route: %v", err)
	}
}

// TestAskEnds: no answer is waited for too long, read too far or taken for a summary if it is an error.
func TestAskEnds(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, ": more and more\n\n")
		}
	}
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down sk-key-1"}}`)
	}
	for name, tt := range map[string]struct {
		then   func(http.ResponseWriter, *http.Request)
		change func(*gateway.Options)
		do     func(w *world, cancel context.CancelFunc, q *gateway.Question)
	}{
		"cancelled": {hang, nil, func(_ *world, cancel context.CancelFunc, _ *gateway.Question) {
			time.AfterFunc(50*time.Millisecond, cancel)
		}},
		"closed": {hang, nil, func(w *world, _ context.CancelFunc, _ *gateway.Question) {
			time.AfterFunc(50*time.Millisecond, func() { _ = w.Close() })
		}},
		"silent":  {hang, func(o *gateway.Options) { o.Silence = 50 * time.Millisecond }, nil},
		"long":    {nil, nil, func(_ *world, _ context.CancelFunc, q *gateway.Question) { q.Limit = 10 }},
		"endless": {endless, nil, nil},
		"error":   {refuse, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			first := true
			w, _ := asking(t, tt.change, func(rw http.ResponseWriter, r *http.Request) {
				if first || tt.then == nil {
					first = false
					streamAnswer(rw, "a summary")
					return
				}
				tt.then(rw, r)
			})
			say(t, w, "fix it", "sk-key-1")
			w.obs.wait(t, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			q := question()
			if tt.do != nil {
				tt.do(w, cancel, &q)
			}
			e, err := w.Ask(ctx, "t1", q)
			if err == nil || strings.Contains(err.Error(), "sk-key") {
				t.Errorf("%+v, %v", e, err)
			}
			if ended := w.obs.wait(t, 2); ended[1].Main || ended[1].EndsTurn {
				t.Errorf("reported as %+v", ended[1])
			}
		})
	}
}

// TestAskIsCapped: what people allow a thread to cost is not exceeded, and the thread does not fail because of it.
func TestAskIsCapped(t *testing.T) {
	w, rec := asking(t, newPurse(budget.Thread, tokens(12_300), budget.Spent{}).with, nil)
	say(t, w, "fix it", "sk-key-1")
	w.obs.wait(t, 1)
	n := rec.count()
	if _, err := w.Ask(t.Context(), "t1", question()); !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "the budget of t1 is used up") {
		t.Errorf("%v", err)
	}
	if got := rec.count(); got != n || len(w.obs.wait(t, 1)) != 1 {
		t.Errorf("%d requests went upstream", got-n)
	}
}
