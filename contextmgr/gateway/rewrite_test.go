package gateway_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// rewriter answers with a function and records what it was asked.
type rewriter struct {
	mu   sync.Mutex
	got  []string // bodies
	then func(o gateway.Outgoing) gateway.Rewritten
}

func (r *rewriter) Rewrite(_ context.Context, o gateway.Outgoing) gateway.Rewritten {
	r.mu.Lock()
	r.got = append(r.got, string(o.Call.Body))
	r.mu.Unlock()
	return r.then(o)
}

func (r *rewriter) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

func rewriting(t *testing.T, then func(o gateway.Outgoing) gateway.Rewritten) (*world, *rewriter, *recorder) {
	rec := &recorder{then: func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, "hello") }}
	rw := &rewriter{then: then}
	w := open(t, serve(t, rec.ServeHTTP), func(o *gateway.Options) { o.Rewriter = rw })
	return w, rw, rec
}

func TestRewrites(t *testing.T) {
	const sent = `{"model":"claude-sonnet-4-6","messages":[]}`
	for _, coding := range []string{"", "zstd", "gzip", "br"} {
		w, rw, rec := rewriting(t, func(gateway.Outgoing) gateway.Rewritten { return gateway.Rewritten{Body: []byte(sent)} })
		body := request("fix it")
		header := []string{"X-Own", "kept"}
		if coding != "" {
			header = append(header, "Content-Encoding", coding)
		}
		if _, _, err := post(t, w.base+"/v1/messages", pack(t, body, strings.Fields(coding)...), header...); err != nil {
			t.Fatal(err)
		}
		got := rec.last(t)
		switch {
		case string(got.body) != sent, got.length != int64(len(sent)), got.header.Get("X-Own") != "kept":
			t.Errorf("%q: upstream got %s, length %d, %v", coding, got.body, got.length, got.header)
		case got.header.Values("Content-Encoding") != nil:
			t.Errorf("%q: a plain body is called %v", coding, got.header)
		case rw.asked()[0] != body:
			t.Errorf("%q: the rewriter got %q", coding, rw.asked()[0])
		}
		if e := w.obs.wait(t, 1)[0]; e.Prompt != "fix it" || len(e.Items) != 1 {
			t.Errorf("%q: people see %+v instead of what the agent sent", coding, e)
		}
	}
}

func TestRewriterLeavesRequestsAsTheyCame(t *testing.T) {
	w, rw, rec := rewriting(t, func(gateway.Outgoing) gateway.Rewritten { return gateway.Rewritten{} })
	plain := request("fix it")
	bodies := map[string]string{
		"": plain, "zstd": pack(t, plain, "zstd"), "gzip": pack(t, plain, "gzip"), "unknown": plain,
		"gzip, br": pack(t, plain, "gzip", "br"),
	}
	for coding, body := range bodies {
		var header []string
		if coding != "" {
			header = []string{"Content-Encoding", coding}
		}
		if _, _, err := post(t, w.base+"/v1/messages", body, header...); err != nil {
			t.Fatal(err)
		}
		if got := rec.last(t); string(got.body) != body || got.header.Get("Content-Encoding") != coding {
			t.Errorf("%q: upstream got another body, %v", coding, got.header)
		}
	}
	if n := len(rw.asked()); n != 4 {
		t.Errorf("the rewriter was asked about %d of 4 readable requests", n)
	}
	cut := bodies["zstd"][:len(bodies["zstd"])-5]
	if _, _, err := post(t, w.base+"/v1/messages", cut, "Content-Encoding", "zstd"); err != nil {
		t.Fatal(err)
	}
	if got := rec.last(t); string(got.body) != cut {
		t.Error("a truncated body did not pass as it came")
	}
	if _, _, err := post(t, w.base+"/v1/other", plain); err != nil {
		t.Fatal(err)
	}
	if n := len(rw.asked()); n != 4 {
		t.Errorf("the rewriter was asked %d times, also about what cannot be read", n)
	}
}

// TestSignedRequestsPass: a header that vouches for the body would not fit another one.
func TestSignedRequestsPass(t *testing.T) {
	w, rw, rec := rewriting(t, func(gateway.Outgoing) gateway.Rewritten { return gateway.Rewritten{Body: []byte("{}")} })
	body := request("fix it")
	for _, header := range [][2]string{
		{"Authorization", "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=y"}, {"X-Amz-Content-Sha256", "x"},
		{"Content-MD5", "x"}, {"Content-Digest", "sha-256=:x:"},
	} {
		if _, _, err := post(t, w.base+"/v1/messages", body, header[0], header[1]); err != nil {
			t.Fatal(err)
		}
		if got := string(rec.last(t).body); got != body {
			t.Errorf("%s: upstream got %s", header[0], got)
		}
	}
	if n := len(rw.asked()); n != 0 {
		t.Errorf("the rewriter was asked about %d signed requests", n)
	}
}

func TestRewriterPanics(t *testing.T) {
	w, _, rec := rewriting(t, func(gateway.Outgoing) gateway.Rewritten { panic("no") })
	for range 3 {
		body := request("fix it")
		resp, _, err := post(t, w.base+"/v1/messages", body)
		if err != nil || resp.StatusCode != http.StatusOK || string(rec.last(t).body) != body {
			t.Fatalf("%v, %v: upstream got %s", resp, err, rec.last(t).body)
		}
	}
	w.obs.wait(t, 3)
	if n := w.obs.notices(t, true); n != 1 {
		t.Errorf("%d notices", n)
	}
}

func TestRewriterRefuses(t *testing.T) {
	w, _, rec := rewriting(t, func(o gateway.Outgoing) gateway.Rewritten {
		return gateway.Rewritten{Refusal: "the context is full", Status: http.StatusPaymentRequired}
	})
	resp, body, err := post(t, w.base+"/v1/messages", request("fix it"))
	if err != nil || resp.StatusCode != http.StatusPaymentRequired {
		t.Fatalf("%v, %v", resp, err)
	}
	if _, message := errorOf(t, body); message != "the context is full" {
		t.Errorf("the agent was told %s", body)
	}
	if len(rec.got) != 0 {
		t.Error("a refused request was sent")
	}
	if e := w.obs.wait(t, 1)[0]; e.Status != http.StatusPaymentRequired || !e.Main || e.Err == "" {
		t.Errorf("reported %+v", e)
	}
}

func TestRewriterHearsOfTheEnd(t *testing.T) {
	var mu sync.Mutex
	var order []string
	n := 0
	w, _, _ := rewriting(t, func(o gateway.Outgoing) gateway.Rewritten {
		mu.Lock()
		n++
		name := strconv.Itoa(n)
		mu.Unlock()
		if o.Thread != "t1" || o.To.Path != "/v1/messages" || o.Window("claude-sonnet-4-6", false, 0) != 200_000 {
			t.Errorf("asked %+v", o)
		}
		req, err := o.Codec.Request(o.Call)
		if err != nil {
			t.Error(err)
		}
		req.Prompt = "as the rewriter read it"
		return gateway.Rewritten{Request: &req, Ended: func(e *thread.Exchange) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, "ended "+name)
			e.Model = "model " + name
			if name == "2" {
				panic("no")
			}
		}}
	})
	w.obs.onEnd = func(e thread.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, "reported "+e.Model)
	}
	for range 3 {
		if _, _, err := post(t, w.base+"/v1/messages", request("fix it")); err != nil {
			t.Fatal(err)
		}
	}
	ended := w.obs.wait(t, 3)
	mu.Lock()
	defer mu.Unlock()
	want := "ended 1, reported model 1, ended 2, reported model 2, ended 3, reported model 3"
	if got := strings.Join(order, ", "); got != want {
		t.Errorf("heard %s", got)
	}
	if ended[0].Prompt != "as the rewriter read it" {
		t.Errorf("the request was read again: %q", ended[0].Prompt)
	}
}
