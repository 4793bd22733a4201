package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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

// patience bounds every wait of the tests; it is never reached when things work.
const patience = 60 * time.Second

// observer records what it hears.
type observer struct {
	mu     sync.Mutex
	log    []string // in order: "start main m", "end m", "hook e"
	ended  []thread.Exchange
	spoken []thread.Speech
	begun  []thread.Begun
	stages []thread.Stage
	hooks  map[string]string
	told   []string // notices
	change chan struct{}
	onEnd  func(thread.Exchange)

	onSpeech func(thread.Speech)
	decides  chan []byte
}

func newObserver() *observer {
	return &observer{hooks: map[string]string{}, change: make(chan struct{}, 1), decides: make(chan []byte)}
}

func (o *observer) note(fn func()) {
	o.mu.Lock()
	fn()
	o.mu.Unlock()
	select {
	case o.change <- struct{}{}:
	default:
	}
}

func (o *observer) RequestStarted(_ thread.ID, b thread.Begun) {
	o.note(func() {
		o.log = append(o.log, fmt.Sprintf("start %v %s", b.Main, b.Model))
		o.begun = append(o.begun, b)
	})
}

func (o *observer) RequestReached(_ thread.ID, s thread.Stage, _ time.Time) {
	o.note(func() { o.stages = append(o.stages, s) })
}

func (o *observer) Spoke(_ thread.ID, s thread.Speech) {
	if o.onSpeech != nil {
		o.onSpeech(s)
	}
	o.note(func() { o.spoken = append(o.spoken, s) })
}

func (o *observer) ExchangeEnded(_ thread.ID, e thread.Exchange) {
	if o.onEnd != nil {
		o.onEnd(e)
	}
	o.note(func() {
		o.log = append(o.log, "end "+e.Model)
		o.ended = append(o.ended, e)
	})
}

func (o *observer) Hook(_ thread.ID, event string, payload []byte) {
	o.note(func() {
		o.log = append(o.log, "hook "+event)
		o.hooks[event] = string(payload)
	})
}

// Asked waits for a decision about what the event "asks" asks.
func (o *observer) Asked(_ thread.ID, event string, _ []byte) func(context.Context) []byte {
	if event != "asks" {
		return nil
	}
	return func(ctx context.Context) []byte {
		select {
		case says := <-o.decides:
			return says
		case <-ctx.Done():
			return nil
		}
	}
}

func (o *observer) Notice(_ thread.ID, _ thread.Level, text string) {
	o.note(func() { o.told = append(o.told, text) })
}

// notices returns how many there were, once there is one where some are expected.
func (o *observer) notices(t *testing.T, some bool) int {
	t.Helper()
	o.until(t, "a notice", func() bool { return !some || len(o.told) > 0 })
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.told)
}

// wait returns the exchanges once there are n.
func (o *observer) wait(t *testing.T, n int) []thread.Exchange {
	t.Helper()
	limit := time.After(patience)
	for {
		o.mu.Lock()
		got := append([]thread.Exchange(nil), o.ended...)
		o.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-o.change:
		case <-limit:
			t.Fatalf("heard of %d exchanges, want %d", len(got), n)
		}
	}
}

// until waits for a condition over what was heard.
func (o *observer) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		o.mu.Lock()
		done := ok()
		o.mu.Unlock()
		if done {
			return
		}
		select {
		case <-o.change:
		case <-limit:
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// world is a gateway with one route to an upstream.
type world struct {
	*gateway.Gateway
	obs  *observer
	base string
	hook string
	logs *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func codecs() wire.Codecs {
	return wire.Codecs{anthropic.New(), openai.NewResponses(), openai.NewChat(), gemini.New()}
}

func open(t testing.TB, upstream string, change func(*gateway.Options)) *world {
	t.Helper()
	obs := newObserver()
	w := openWith(t, obs, upstream, change)
	w.obs = obs
	return w
}

// openWith opens a gateway with another observer.
func openWith(t testing.TB, obs thread.Observer, upstream string, change func(*gateway.Options)) *world {
	t.Helper()
	w := &world{logs: &safeBuffer{}}
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	opts := gateway.Options{
		Codecs: codecs(),
		Models: table,
		Log:    slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&opts)
	}
	if w.Gateway, err = gateway.New("127.0.0.1:0", obs, opts); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	w.base, w.hook, err = w.Route("t1", thread.RouteSpec{Agent: "claude", Upstreams: map[string]string{"": upstream}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// client returns a client of its own, without compression or redirects of its own.
func client(t testing.TB) *http.Client {
	t.Helper()
	tr := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{
		Transport:     tr,
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// post sends a body and returns the answer with what of it could be read.
func post(t testing.TB, url, body string, header ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client(t).Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// request is a main request as Claude Code sends it, small.
func request(prompt string) string {
	return `{"model":"claude-sonnet-4-6","max_tokens":32000,"stream":true,"tools":[{"name":"Bash"}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>\nx\n</system-reminder>"},` +
		`{"type":"text","text":"` + prompt + `"}]}]}`
}

// answerEvents is a streamed answer with all kinds of blocks.
func answerEvents(text string) []string {
	event := func(kind, rest string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
	}
	return []string{
		event("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant",`+
			`"model":"claude-sonnet-4-6","content":[],"usage":{"input_tokens":4,"cache_creation_input_tokens":2446,`+
			`"cache_read_input_tokens":9784,"output_tokens":1}}`),
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`),
		event("ping", ``),
		event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"`+text+`"}`),
		event("content_block_stop", `,"index":0`),
		event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":21}`),
		event("message_stop", ``),
	}
}

func streamAnswer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, e := range answerEvents(text) {
		_, _ = io.WriteString(w, e)
		_ = http.NewResponseController(w).Flush()
	}
}

func TestCarriesAndObserves(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		streamAnswer(w, "hello")
	})
	w := open(t, up, nil)
	resp, body, err := post(t, w.base+"/v1/messages?beta=true", request("fix it"), "X-Claude-Code-Session-Id", "s-1")
	if err != nil || resp.StatusCode != 200 || body != strings.Join(answerEvents("hello"), "") {
		t.Fatalf("got %v, %v\n%s", resp, err, body)
	}
	e := w.obs.wait(t, 1)[0]
	want := thread.Usage{Input: 4, CacheRead: 9784, CacheWrite: 2446, Output: 21}
	cost := e.Usage.CostUSD
	e.Usage.CostUSD = 0
	want.Priced = true
	switch {
	case !e.Main, e.Purpose != "", e.Model != "claude-sonnet-4-6", e.Session != "s-1", e.Status != 200:
		t.Errorf("request: %+v", e)
	case e.Prompt != "fix it", e.Text != "hello", e.Stop != "end_turn", !e.EndsTurn, e.Interrupted, e.Err != "":
		t.Errorf("answer: %+v", e)
	case e.Usage != want, cost < 0.0124 || cost > 0.0125, e.Window != 200_000:
		t.Errorf("usage: %+v, cost %v, window %d", e.Usage, cost, e.Window)
	case len(e.Items) != 1, e.Answer == nil, e.Started.IsZero(), e.Ended.Before(e.Started):
		t.Errorf("items: %+v", e)
	}
	if got := string(e.Answer.Raw); got != `{"role":"assistant","content":[{"text":"hello","type":"text"}]}` {
		t.Errorf("answer's item: %s", got)
	}
	if got := strings.Join(w.obs.log, ", "); got != "start true claude-sonnet-4-6, end claude-sonnet-4-6" {
		t.Errorf("heard %s", got)
	}
}

// TestHourOfCache: what a cache keeps for an hour is told apart, and costs more.
func TestHourOfCache(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		const reads = `"cache_read_input_tokens"`
		_, _ = io.WriteString(w, strings.Replace(strings.Join(answerEvents("hello"), ""), reads,
			`"cache_creation":{"ephemeral_5m_input_tokens":1446,"ephemeral_1h_input_tokens":1000},`+reads, 1))
	})
	w := open(t, up, nil)
	if _, _, err := post(t, w.base+"/v1/messages?beta=true", request("fix it")); err != nil {
		t.Fatal(err)
	}
	got := w.obs.wait(t, 1)[0].Usage
	// 4 of input at 3 USD for a million, 9784 read at 0.3, 1446 written at 3.75 and 1000 at 6, 21 of output at 15.
	want := thread.Usage{Input: 4, CacheRead: 9784, CacheWrite: 2446, CacheWriteHour: 1000, Output: 21, Priced: true}
	cost := got.CostUSD
	if got.CostUSD = 0; got != want || math.Abs(cost-0.0146847) > 1e-9 {
		t.Errorf("usage %+v, cost %v", got, cost)
	}
}

func TestRouteKeepsItsAddress(t *testing.T) {
	up1 := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "one") })
	up2 := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "two "+r.URL.Path) })
	w := open(t, up1, nil)
	base, hook, err := w.Route("t1",
		thread.RouteSpec{Agent: "claude", Upstreams: map[string]string{"": up2 + "/base/", "side": up1}})
	if err != nil || base != w.base || hook != w.hook {
		t.Fatalf("%v: %s %s", err, base, hook)
	}
	other, _, err := w.Route("t2", thread.RouteSpec{Agent: "claude"})
	if err != nil || other == base {
		t.Fatalf("%v: another thread got %s", err, other)
	}
	for url, want := range map[string]string{
		base + "/x": "two /base/x", base + "/@side/x": "one", base: "two /base", base + "/": "two /base/",
	} {
		if _, body, err := post(t, url, ""); err != nil || body != want {
			t.Errorf("%s: %q, %v", url, body, err)
		}
	}
	if resp, _, err := post(t, base+"/@other/x", ""); err != nil || resp.StatusCode != 404 {
		t.Errorf("unknown upstream: %v, %v", resp, err)
	}
	w.Unroute("t1")
	if resp, body, err := post(t, base+"/x", ""); err != nil || resp.StatusCode != 401 || body != "" {
		t.Errorf("after Unroute: %v, %v", resp, err)
	}
}

func TestRouteRefuses(t *testing.T) {
	w := open(t, "http://127.0.0.1:1", nil)
	for _, up := range []string{"", "ftp://x", "file:///etc/passwd", "http://", "x", "http://a/#b",
		"http://" + w.Addr() + "/t/x", "http://a b/%"} {
		_, _, err := w.Route("t9", thread.RouteSpec{Agent: "claude", Upstreams: map[string]string{"": up}})
		if !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("Route to %q: %v", up, err)
		}
	}
}

func TestListensOnLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "localhost:0", "192.0.2.1:0", "x"} {
		if g, err := gateway.New(addr, nil, gateway.Options{}); err == nil {
			t.Errorf("listens on %s", addr)
			_ = g.Close()
		}
	}
	g, err := gateway.New("127.0.0.1:0", nil, gateway.Options{})
	if err != nil || g.Close() != nil {
		t.Error(err)
	}
}

func TestHooks(t *testing.T) {
	w := open(t, "http://127.0.0.1:1", nil)
	resp, body, err := post(t, w.hook+"/Stop", `{"a":1}`)
	if err != nil || resp.StatusCode != 204 || body != "" {
		t.Fatalf("%v, %v", resp, err)
	}
	w.obs.until(t, "the hook", func() bool { return w.obs.hooks["Stop"] == `{"a":1}` })
	for path, want := range map[string]int{"": 404, "/": 404, "/a/b": 404, "/%20": 404,
		"/" + strings.Repeat("x", 65): 404} {
		if resp, _, err := post(t, w.hook+path, ""); err != nil || resp.StatusCode != want {
			t.Errorf("%q: %v, %v", path, resp, err)
		}
	}
	if resp, err := client(t).Get(w.hook + "/Stop"); err != nil || resp.StatusCode != 405 {
		t.Errorf("GET: %v, %v", resp, err)
	}
	if resp, _, err := post(t, w.hook+"/Big", strings.Repeat("x", 4<<20+1)); err == nil && resp.StatusCode != 413 {
		t.Errorf("too large: %v", resp)
	}
}

// TestCloseTellsTheObserverFirst ends the gateway in the middle of an answer.
func TestCloseTellsTheObserverFirst(t *testing.T) {
	release := make(chan struct{})
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answerEvents("half")[0])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	w := open(t, up, nil)
	done := make(chan error, 1)
	go func() {
		_, _, err := post(t, w.base+"/v1/messages", request("x"))
		done <- err
	}()
	w.obs.until(t, "the start", func() bool { return len(w.obs.log) == 1 })
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the agent saw a clean end")
	}
	w.obs.mu.Lock()
	defer w.obs.mu.Unlock()
	if len(w.obs.ended) != 1 || !w.obs.ended[0].Interrupted {
		t.Errorf("heard %+v", w.obs.ended)
	}
	if _, _, err := w.Route("t3", thread.RouteSpec{Agent: "x"}); err == nil {
		t.Error("a closed gateway takes routes")
	}
}

// TestHookWaits: a hook that asks hears what is decided, and nothing where nobody decides before the gateway ends.
func TestHookWaits(t *testing.T) {
	w := open(t, "http://127.0.0.1:1", nil)
	answers := make(chan string, 1)
	ask := func() {
		go func() {
			resp, body, err := post(t, w.hook+"/asks", `{"a":1}`)
			if err != nil {
				body = err.Error()
			} else {
				body = fmt.Sprint(resp.StatusCode, " ", body)
			}
			answers <- body
		}()
		w.obs.until(t, "the hook", func() bool { return w.obs.hooks["asks"] != "" })
	}
	ask()
	select {
	case got := <-answers:
		t.Fatalf("it did not wait: %s", got)
	case w.obs.decides <- []byte(`{"yes":true}`):
	}
	if got := <-answers; got != `200 {"yes":true}` {
		t.Error(got)
	}
	ask()
	w.obs.decides <- nil
	if got := <-answers; got != "204 " {
		t.Error(got)
	}
	ask()
	begin := time.Now()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if got := <-answers; strings.HasPrefix(got, "200") || time.Since(begin) > 3*time.Second {
		t.Errorf("%s, after %v", got, time.Since(begin))
	}
}
