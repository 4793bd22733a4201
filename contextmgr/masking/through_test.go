package masking_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/thread"
)

// through is a gateway that masks as a world does, in front of a provider.
type through struct {
	*world
	*provider
	*heard
	gate   *gateway.Gateway
	client *http.Client
	bases  map[thread.ID]string
	sent   int // requests that ended or will
}

// patience bounds every wait; it is never reached when things work.
const patience = 60 * time.Second

// through opens a gateway over a world. Both end with the test.
func (w *world) through(windows map[string]int64) *through {
	w.Helper()
	table, err := models.Builtin()
	if err != nil {
		w.Fatal(err)
	}
	p := &through{
		world: w, provider: serve(w.T, w.format), heard: &heard{change: make(chan struct{}, 1)}, bases: map[thread.ID]string{},
	}
	p.gate, err = gateway.New("127.0.0.1:0", p.heard, gateway.Options{
		Codecs: wire.Codecs{anthropic.New(), openai.NewResponses(), openai.NewChat(), gemini.New()}, Models: table,
		Rewriter: w, // whose masker a restart replaces
	})
	if err != nil {
		w.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.gate.Run(context.Background()) }()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 10}
	p.client = &http.Client{Transport: transport, Timeout: patience}
	w.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := p.gate.Close(); err != nil {
			w.Error(err)
		}
		if err := <-done; err != nil {
			w.Error(err)
		}
	})
	for _, id := range []thread.ID{"t1", "t2"} {
		if p.bases[id], _, err = p.gate.Route(id, thread.RouteSpec{
			Agent: "any", Upstreams: map[string]string{"": p.url}, Windows: windows,
		}); err != nil {
			w.Fatal(err)
		}
	}
	return p
}

// request sends a body and returns the provider's answer. It may be used at once by several goroutines.
func (p *through) request(ctx context.Context, id thread.ID, body []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.bases[id]+p.path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp, err
}

// ask sends a body, waits until the exchange is over, and returns what the provider got.
func (p *through) ask(body string) string {
	p.Helper()
	resp, err := p.request(p.Context(), "t1", []byte(body), nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.Fatalf("%v (%v)", resp, err)
	}
	p.sent++
	p.ended(p.T, p.sent)
	return p.got()
}

// conversation returns the body of a request with the items.
func (w *world) conversation() string { return w.body(w.model, strings.Join(w.items, ",")) }

// provider is an upstream that notes what it gets, and answers with how many tokens that has.
type provider struct {
	url   string
	conns atomic.Int64 // that were opened

	mu     sync.Mutex
	bySum  map[string]string              // bodies of agents that name a session, by their SHA-256
	latest []byte                         // of the last request
	before func(ctx context.Context) bool // is called before an answer, if it is set; false ends without one
	usage  func(body []byte) int
}

// sumHeader has the SHA-256 of the request that an answer is for.
const sumHeader = "X-Body-Sha256"

func serve(t *testing.T, f format) *provider {
	t.Helper()
	p := &provider{bySum: map[string]string{}, usage: func(body []byte) int { return len(body) / 4 }}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(body)) {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		sum := sha256.Sum256(body)
		name := hex.EncodeToString(sum[:])
		p.mu.Lock()
		p.latest = body
		if r.Header.Get("X-Claude-Code-Session-Id") != "" {
			p.bySum[name] = string(body)
		}
		before, usage := p.before, p.usage(body)
		p.mu.Unlock()
		if before != nil && !before(r.Context()) {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set(sumHeader, name)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer(f, usage))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			p.conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

// got returns the body of the last request.
func (p *provider) got() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.latest)
}

// with returns the body with a SHA-256, of an agent that names a session.
func (p *provider) with(sum string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, ok := p.bySum[sum]
	return body, ok
}

// set changes how the provider answers.
func (p *provider) set(change func(p *provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// answer is one that ends a turn, to a request that has so many tokens.
func answer(f format, tokens int) string {
	switch f.codec.Wire() {
	case anthropic.New().Wire():
		return fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],`+
			`"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":10}}`, tokens)
	case openai.NewResponses().Wire():
		return fmt.Sprintf(`{"object":"response","status":"completed","output":[{"type":"message","role":"assistant",`+
			`"content":[{"type":"output_text","text":"ok"}]}],"usage":{"input_tokens":%d,"output_tokens":10}}`, tokens)
	case openai.NewChat().Wire():
		return fmt.Sprintf(`{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop",`+
			`"message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":%d,"completion_tokens":10}}`, tokens)
	default:
		return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}],`+
			`"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":10}}`, tokens)
	}
}

// heard is what people and the manager hear of the gateway.
type heard struct {
	mu        sync.Mutex
	exchanges int // that are over
	begun     thread.Begun
	last      thread.Exchange
	told      []string
	change    chan struct{}
}

func (h *heard) RequestStarted(_ thread.ID, b thread.Begun)                 { h.note(func() { h.begun = b }) }
func (*heard) RequestReached(thread.ID, thread.Stage, time.Time)            {}
func (*heard) Spoke(thread.ID, thread.Speech)                               {}
func (*heard) Asked(thread.ID, string, []byte) func(context.Context) []byte { return nil }
func (*heard) Hook(id thread.ID, event string, payload []byte)              {}
func (h *heard) Notice(_ thread.ID, _ thread.Level, text string) {
	h.note(func() { h.told = append(h.told, text) })
}
func (h *heard) ExchangeEnded(_ thread.ID, e thread.Exchange) {
	e.Items = nil // they hold the body
	h.note(func() { h.exchanges, h.last = h.exchanges+1, e })
}

func (h *heard) note(what func()) {
	h.mu.Lock()
	what()
	h.mu.Unlock()
	select {
	case h.change <- struct{}{}:
	default:
	}
}

// ended returns once n exchanges are over.
func (h *heard) ended(t *testing.T, n int) {
	t.Helper()
	limit := time.After(patience)
	for {
		h.mu.Lock()
		got := h.exchanges
		h.mu.Unlock()
		if got >= n {
			return
		}
		select {
		case <-h.change:
		case <-limit:
			t.Fatalf("%d of %d exchanges are over", got, n)
		}
	}
}

// notices returns what people were told.
func (h *heard) notices() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told[:len(h.told):len(h.told)]
}

// newest returns what was heard of the newest request.
func (h *heard) newest() (thread.Begun, thread.Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun, h.last
}
