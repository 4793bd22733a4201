package gateway_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// seen is a request as an upstream got it.
type seen struct {
	method, uri, host string
	header            http.Header
	body              []byte
	length            int64
}

// recorder is an upstream that notes what it gets.
type recorder struct {
	mu   sync.Mutex
	got  []seen
	then http.HandlerFunc
}

func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	rec.mu.Lock()
	rec.got = append(rec.got, seen{r.Method, r.RequestURI, r.Host, r.Header.Clone(), body, r.ContentLength})
	rec.mu.Unlock()
	if rec.then != nil {
		rec.then(w, r)
	}
}

func (rec *recorder) last(t *testing.T) seen {
	t.Helper()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.got) == 0 {
		t.Fatal("nothing came upstream")
	}
	return rec.got[len(rec.got)-1]
}

func TestBodiesPassByteForByte(t *testing.T) {
	rec := &recorder{}
	w := open(t, serve(t, rec.ServeHTTP), nil)
	random := make([]byte, 3<<20)
	src := rand.NewChaCha8([32]byte{1})
	_, _ = src.Read(random)
	for name, body := range map[string]string{
		"empty":             "",
		"request":           request("hi"),
		"odd but valid":     "{ \"messages\" : [ ],\n\t\"a\":1.0, \"b\":1e2,\"\\u0061\":\"\\u00e9\\/\",\"a\":2 } \n",
		"no JSON":           "what is this?",
		"half JSON":         `{"model":"m","messages":[{"role":"user","content":"x`,
		"binary":            string(random),
		"deep":              strings.Repeat("[", 100_000),
		"large":             request(strings.Repeat("x", 9<<20)),
		"nulls, separators": "{\"messages\":[{\"role\":\"user\",\"content\":\"\\u0000\u2028\"}]}",
	} {
		t.Run(name, func(t *testing.T) {
			paths := []string{"/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/g:streamGenerateContent",
				"/api/unknown"}
			if len(body) > 4<<20 {
				paths = paths[:1] // slow under the race detector
			}
			for _, path := range paths {
				resp, _, err := post(t, w.base+path, body)
				if err != nil || resp.StatusCode != 200 {
					t.Fatalf("%s: %v, %v", path, resp, err)
				}
				got := rec.last(t)
				if sha256.Sum256(got.body) != sha256.Sum256([]byte(body)) || got.length != int64(len(body)) {
					t.Errorf("%s: %d bytes became %d (length %d)", path, len(body), len(got.body), got.length)
				}
			}
		})
	}
}

func TestTargetsPassAsTheyAre(t *testing.T) {
	rec := &recorder{}
	up := serve(t, rec.ServeHTTP)
	w := open(t, up, nil)
	for _, target := range []string{
		"/v1/messages?beta=true", "/v1beta/models/a%2Fb:generateContent?alt=sse&key=", "/a%20b%zz"[:6], "/x?",
		"/x?a=b&a=c;d=%2B+",
		"/a//b/./c", "//evil.com/a", "/a..b/...", "/..a;b/c%2e.d", "/%C3%A9%e9", "/a;b=c/(d)'!*", "/",
	} {
		if _, _, err := post(t, w.base+target, ""); err != nil {
			t.Fatal(err)
		}
		if got := rec.last(t).uri; got != target {
			t.Errorf("%s became %s", target, got)
		}
	}
	base, _, err := w.Route("t2", thread.RouteSpec{Agent: "x",
		Upstreams: map[string]string{"": up + "/proxy/v1?api-version=2"}})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"/messages": "/proxy/v1/messages?api-version=2", "/messages?a=b": "/proxy/v1/messages?api-version=2&a=b",
		"": "/proxy/v1?api-version=2",
	} {
		if _, _, err := post(t, base+in, ""); err != nil {
			t.Fatal(err)
		}
		if got := rec.last(t).uri; got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestHeadersPass(t *testing.T) {
	rec := &recorder{then: func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["X-Two"] = []string{"a", "b"}
		w.Header().Set("Retry-After", "4")
		w.Header().Set("Anthropic-Ratelimit-Unified-Status", "allowed")
		w.Header().Set("Set-Cookie", "x=y")
		w.WriteHeader(http.StatusTooManyRequests)
	}}
	up := serve(t, rec.ServeHTTP)
	w := open(t, up, nil)
	req, err := http.NewRequest(http.MethodPost, w.base+"/v1/messages", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"X-Api-Key": {"k"}, "Authorization": {"Bearer b"}, "Anthropic-Beta": {"a", "b"}, "User-Agent": {"claude-cli/2.1.330"},
		"Accept-Encoding": {"gzip, br"}, "Te": {"trailers"}, "Proxy-Authorization": {"p"}, "Keep-Alive": {"5"},
		"X-Custom": {""},
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := rec.last(t)
	for name, want := range map[string][]string{
		"X-Api-Key": {"k"}, "Authorization": {"Bearer b"}, "Anthropic-Beta": {"a", "b"}, "User-Agent": {"claude-cli/2.1.330"},
		"Accept-Encoding": {"gzip, br"}, "X-Custom": {""}, "Te": nil, "Proxy-Authorization": nil, "Keep-Alive": nil,
		"X-Forwarded-For": nil, "Via": nil,
	} {
		if !slices.Equal(got.header[textproto.CanonicalMIMEHeaderKey(name)], want) {
			t.Errorf("%s: %q, want %q", name, got.header[name], want)
		}
	}
	if "http://"+got.host != up {
		t.Errorf("host %s", got.host)
	}
	if resp.StatusCode != 429 || !slices.Equal(resp.Header["X-Two"], []string{"a", "b"}) ||
		resp.Header.Get("Retry-After") != "4" ||
		resp.Header.Get("Set-Cookie") != "x=y" || resp.Header["Content-Type"] != nil {
		t.Errorf("answer: %d %v", resp.StatusCode, resp.Header)
	}
	if e := w.obs.wait(t, 1)[0]; e.Status != 429 || e.EndsTurn || e.Interrupted {
		t.Errorf("observed %+v", e)
	}
}

func TestNoHeaderIsInvented(t *testing.T) {
	rec := &recorder{}
	w := open(t, serve(t, rec.ServeHTTP), nil)
	req, err := http.NewRequest(http.MethodGet, w.base+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header["User-Agent"] = nil
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := rec.last(t); len(got.header) > 0 {
		t.Errorf("upstream got %v", got.header)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	hits := 0
	canary := serve(t, func(http.ResponseWriter, *http.Request) { hits++ })
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, canary+"/steal", http.StatusTemporaryRedirect)
	})
	w := open(t, up, nil)
	resp, _, err := post(t, w.base+"/v1/messages", request("x"), "X-Api-Key", "secret-key")
	if err != nil || resp.StatusCode != 307 || resp.Header.Get("Location") != canary+"/steal" || hits != 0 {
		t.Errorf("%v, %v, %d hits", resp, err, hits)
	}
}

func TestTooLargeIsRefusedWhole(t *testing.T) {
	rec := &recorder{}
	w := open(t, serve(t, rec.ServeHTTP), func(o *gateway.Options) { o.MaxBody = 1000 })
	if resp, _, err := post(t, w.base+"/v1/messages", strings.Repeat("x", 1000)); err != nil || resp.StatusCode != 200 {
		t.Fatalf("at the limit: %v, %v", resp, err)
	}
	if resp, body, err := post(t, w.base+"/v1/messages", strings.Repeat("x", 1001)); err == nil &&
		(resp.StatusCode != 413 || !strings.Contains(body, "error")) {
		t.Errorf("above: %v %s", resp, body)
	}
	req, err := http.NewRequest(http.MethodPost, w.base+"/v1/messages",
		io.MultiReader(strings.NewReader(strings.Repeat("x", 1001)))) // chunked
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := client(t).Do(req); err == nil {
		if resp.Body.Close(); resp.StatusCode != 413 {
			t.Errorf("chunked: %v", resp)
		}
	}
	if n := len(rec.got); n != 1 {
		t.Errorf("%d requests came upstream", n)
	}
}

func TestChunkedBodiesGetALength(t *testing.T) {
	rec := &recorder{}
	w := open(t, serve(t, rec.ServeHTTP), nil)
	req, err := http.NewRequest(http.MethodPost, w.base+"/v1/messages",
		io.MultiReader(strings.NewReader("abc"), strings.NewReader("def")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := rec.last(t); string(got.body) != "abcdef" || got.length != 6 {
		t.Errorf("%q, length %d", got.body, got.length)
	}
}

// TestUnknownPathsPassUnobserved also tells that an observed request after them is the first
// that is heard of.
func TestUnknownPathsPassUnobserved(t *testing.T) {
	w := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			streamAnswer(w, "known")
			return
		}
		_, _ = fmt.Fprintf(w, "%s %s", r.Method, r.URL.Path)
	}), nil)
	for _, method := range []string{"GET", "PUT", "DELETE", "PATCH", "POST"} {
		req, err := http.NewRequest(method, w.base+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(body) != method+" /v1/models" {
			t.Errorf("%s: %s", method, body)
		}
	}
	if _, _, err := post(t, w.base+"/v1/messages", request("x")); err != nil {
		t.Fatal(err)
	}
	if e := w.obs.wait(t, 1); len(e) != 1 || e[0].Text != "known" {
		t.Errorf("heard of %+v", e)
	}
}
