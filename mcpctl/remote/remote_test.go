package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread/ground/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client side of the tests: it answers elicitations and notes notifications.
type side struct {
	mu    sync.Mutex
	notes []string
	seen  chan string
}

func (s *side) Request(_ context.Context, m rpc.Message) (json.RawMessage, error) {
	if m.Method == "elicitation/create" {
		return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`), nil
	}
	return nil, rpc.Errorf(rpc.CodeNoMethod, "%s", m.Method)
}

func (s *side) Notification(m rpc.Message) {
	s.mu.Lock()
	s.notes = append(s.notes, m.Method)
	s.mu.Unlock()
	select {
	case s.seen <- m.Method:
	default:
	}
}

func (s *side) saw(method string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.notes, method)
}

func (s *side) wait(t *testing.T, method string) {
	t.Helper()
	for {
		select {
		case got := <-s.seen:
			if got == method {
				return
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s does not come", method)
		}
	}
}

// dial connects a peer to a server.
func dial(t *testing.T, l definition.Launch, o Options) (*rpc.Peer, *side) {
	t.Helper()
	s, err := Dial(t.Context(), l, o)
	if err != nil {
		t.Fatal(err)
	}
	it := &side{seen: make(chan string, 100)}
	p := rpc.NewPeer(s, it)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.Run()
	}()
	t.Cleanup(func() {
		_ = p.Close()
		<-done
	})
	return p, it
}

const hello = `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}`

func initialize(t *testing.T, p *rpc.Peer) {
	t.Helper()
	if _, err := p.Call(t.Context(), "initialize", json.RawMessage(hello)); err != nil {
		t.Fatal(err)
	}
	if err := p.Notify(t.Context(), "notifications/initialized", json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, p *rpc.Peer, method, params string) string {
	t.Helper()
	got, err := p.Call(t.Context(), method, json.RawMessage(params))
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return string(got)
}

// sdkServer is a server of the official SDK with a tool that echoes, one that asks, one that waits and one that reports.
type sdkServer struct {
	*mcp.Server
	started, stopped chan struct{}
}

func newSDKServer() *sdkServer {
	s := &sdkServer{
		Server:  mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}}),
		started: make(chan struct{}, 10), stopped: make(chan struct{}, 10),
	}
	tool := func(name string, do mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, do)
	}
	text := func(s string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}, nil
	}
	tool("echo", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(r.Params.Arguments))
	})
	tool("größe\n", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("odd") })
	tool("ask", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object"}`)})
		if err != nil {
			return nil, err
		}
		return text(fmt.Sprint(got.Content["name"]))
	})
	tool("wait", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.started <- struct{}{}
		<-ctx.Done()
		s.stopped <- struct{}{}
		return nil, ctx.Err()
	})
	tool("report", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		return text("done")
	})
	return s
}

// watched notes the requests of a handler.
type watched struct {
	http.Handler
	mu   sync.Mutex
	seen []*http.Request
}

func (w *watched) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.seen = append(w.seen, r)
	w.mu.Unlock()
	w.Handler.ServeHTTP(rw, r)
}

func (w *watched) requests(method string) []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.seen), func(r *http.Request) bool { return r.Method != method })
}

func serve(t *testing.T, h http.Handler) (*watched, string) {
	t.Helper()
	w := &watched{Handler: h}
	s := httptest.NewServer(w)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return w, s.URL
}

func arrives(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s does not happen", what)
	}
}

func TestLegacy(t *testing.T) {
	for name, options := range map[string]*mcp.StreamableHTTPOptions{
		"events": nil, "JSON": {JSONResponse: true}, "stateless": {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := newSDKServer()
			w, at := serve(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server.Server }, options))
			p, it := dial(t, definition.Launch{Transport: definition.HTTP, URL: at, Headers: map[string]string{"X-Key": "k"}}, Options{})
			initialize(t, p)
			if got := ask(t, p, "tools/call", `{"name":"echo","arguments":{"n":9007199254740993123}}`); !strings.Contains(got, "9007199254740993123") {
				t.Errorf("%s", got)
			}
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					want := fmt.Sprintf("number-%d", i)
					if got := ask(t, p, "tools/call", `{"name":"echo","arguments":{"n":"`+want+`"}}`); !strings.Contains(got, want) {
						t.Errorf("%s, want %s", got, want)
					}
				})
			}
			all.Wait()
			var failed *rpc.Error
			if _, err := p.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"none"}`)); !errors.As(err, &failed) {
				t.Errorf("%v", err)
			}
			if name == "events" {
				ask(t, p, "tools/call", `{"name":"report","arguments":{},"_meta":{"progressToken":"p"}}`)
				it.wait(t, "notifications/progress")
				if got := ask(t, p, "tools/call", `{"name":"ask","arguments":{}}`); !strings.Contains(got, "Ada") {
					t.Errorf("%s", got)
				}
			}
			if name != "stateless" {
				for i := 0; !it.saw("notifications/tools/list_changed"); i++ { // from when the stream is there
					server.AddTool(&mcp.Tool{Name: fmt.Sprint("late", i), InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
					time.Sleep(20 * time.Millisecond)
				}
				if len(w.requests(http.MethodGet)) != 1 {
					t.Errorf("%d streams", len(w.requests(http.MethodGet)))
				}

				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					<-server.started
					cancel()
				}()
				if _, err := p.Call(ctx, "tools/call", json.RawMessage(`{"name":"wait","arguments":{}}`)); !errors.Is(err, context.Canceled) || !errors.Is(err, rpc.ErrUnsure) {
					t.Errorf("%v", err)
				}
				arrives(t, server.stopped, "the cancellation")
			}
			_ = p.Close()
			for i, r := range w.requests(http.MethodPost) {
				if r.Header.Get("X-Key") != "k" || i > 0 && r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" || r.Header.Get("Mcp-Method") != "" {
					t.Errorf("request %d: %v", i, r.Header)
				}
				if name != "stateless" && (i > 0) != (r.Header.Get("Mcp-Session-Id") != "") {
					t.Errorf("request %d: session %q", i, r.Header.Get("Mcp-Session-Id"))
				}
			}
			if ended := len(w.requests(http.MethodDelete)); (ended == 1) != (name != "stateless") {
				t.Errorf("%d sessions are ended", ended)
			}
		})
	}
}

func TestSessionless(t *testing.T) {
	server := newSDKServer()
	w, at := serve(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server.Server },
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	p, it := dial(t, definition.Launch{Transport: definition.HTTP, URL: at}, Options{})
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	if got := ask(t, p, "server/discover", `{`+meta+`}`); !strings.Contains(got, "2026-07-28") {
		t.Errorf("%s", got)
	}
	if got := ask(t, p, "tools/call", `{"name":"echo","arguments":{"n":9007199254740993123},`+meta+`}`); !strings.Contains(got, "9007199254740993123") {
		t.Errorf("%s", got)
	}
	last := w.requests(http.MethodPost)[1].Header
	if last.Get("Mcp-Method") != "tools/call" || last.Get("Mcp-Name") != "echo" || last.Get("Mcp-Protocol-Version") != "2026-07-28" || last.Get("Mcp-Session-Id") != "" {
		t.Errorf("%v", last)
	}
	listening, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = p.Call(listening, "subscriptions/listen", json.RawMessage(`{"notifications":{"toolsListChanged":true},`+meta+`}`))
	}()
	it.wait(t, "notifications/subscriptions/acknowledged")
	server.AddTool(&mcp.Tool{Name: "late", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	it.wait(t, "notifications/tools/list_changed")
	stop()
	arrives(t, ended, "the end of listening")

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-server.started
		cancel()
	}()
	if _, err := p.Call(ctx, "tools/call", json.RawMessage(`{"name":"wait","arguments":{},`+meta+`}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	arrives(t, server.stopped, "the cancellation")
	for _, r := range w.requests(http.MethodPost) {
		if m := r.Header.Get("Mcp-Method"); m == "notifications/cancelled" || m == "" {
			t.Errorf("%q was sent", m)
		}
	}
	if n := len(w.requests(http.MethodGet)) + len(w.requests(http.MethodDelete)); n != 0 {
		t.Errorf("%d requests of sessions", n)
	}
}

func TestParams(t *testing.T) {
	schema := `{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},"n":{"x-mcp-header":"N"},"on":{"x-mcp-header":"On"},
		"deep":{"properties":{"x":{"x-mcp-header":"X"}}},"big":{"x-mcp-header":"Big"},"half":{"x-mcp-header":"Half"},
		"none":{"x-mcp-header":"None"},"list":{"x-mcp-header":"List"},"bad":{"x-mcp-header":"a b"},"other":{"x-mcp-header":7}}}`
	m := rpc.Message{Method: "tools/call", Params: json.RawMessage(`{"name":"t","arguments":{"region":"süd","n":-12,"on":true,
		"deep":{"x":"y"},"big":9007199254740993,"half":0.5,"list":[1],"bad":"b","other":"o","unknown":1},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)}
	got := headersOf(m, "", "", func(tool string) json.RawMessage { return json.RawMessage(schema) })
	want := map[string]string{"Region": "=?base64?c8O8ZA==?=", "N": "-12", "On": "true", "X": "y", "Big": "", "Half": "", "None": "", "List": "", "Other": ""}
	for name, value := range want {
		if v := got.Get("Mcp-Param-" + name); v != value {
			t.Errorf("%s: %q, want %q", name, v, value)
		}
	}
	if len(got) != 9 {
		t.Errorf("%v", got)
	}
	m.Method = "prompts/get"
	if got := headersOf(m, "", "", func(string) json.RawMessage { return json.RawMessage(schema) }); got.Get("Mcp-Param-N") != "" {
		t.Errorf("%v", got)
	}
}

func TestHeaderValue(t *testing.T) {
	for in, want := range map[string]string{
		"a b": "a b", "": "", " a": "=?base64?IGE=?=", "größe": "=?base64?Z3LDtsOfZQ==?=", "a\nb": "=?base64?YQpi?=", "=?base64?x": "=?base64?PT9iYXNlNjQ/eA==?=",
	} {
		if got := headerValue(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestEvents(t *testing.T) {
	server := newSDKServer()
	_, at := serve(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server.Server }, nil))
	p, it := dial(t, definition.Launch{Transport: definition.SSE, URL: at}, Options{})
	initialize(t, p)
	if got := ask(t, p, "tools/call", `{"name":"echo","arguments":{"n":9007199254740993123}}`); !strings.Contains(got, "9007199254740993123") {
		t.Errorf("%s", got)
	}
	if got := ask(t, p, "tools/call", `{"name":"ask","arguments":{}}`); !strings.Contains(got, "Ada") {
		t.Errorf("%s", got)
	}
	server.AddTool(&mcp.Tool{Name: "late", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	it.wait(t, "notifications/tools/list_changed")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-server.started
		cancel()
	}()
	if _, err := p.Call(ctx, "tools/call", json.RawMessage(`{"name":"wait","arguments":{}}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	arrives(t, server.stopped, "the cancellation")
}
