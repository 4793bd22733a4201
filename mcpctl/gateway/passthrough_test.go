package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/process"
	"orchestrator/mcpctl/remote"
	"orchestrator/thread"
	"orchestrator/thread/ground/rpc"
)

// recorder is a remote server that notes everything it is sent.
type recorder struct {
	mu   sync.Mutex
	seen strings.Builder
	// refuses makes it answer calls with 401.
	refuses bool
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	b, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	r.seen.WriteString(q.Method + " " + q.URL.String() + "\n")
	_ = q.Header.Write(&r.seen)
	r.seen.Write(append(b, '\n'))
	refuses := r.refuses
	r.mu.Unlock()
	m, err := rpc.Decode(b)
	switch {
	case q.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case err != nil || !m.IsRequest():
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/call" && refuses:
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://evil.example/"`)
		w.WriteHeader(http.StatusUnauthorized)
	default:
		results := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"r","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"done"}]}`,
		}
		answer, _ := rpc.Message{ID: m.ID, Result: json.RawMessage(cmp.Or(results[m.Method], `{}`))}.Encode()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}
}

// signIn is a stream that says in the hub's words that the person has to sign in.
type signIn struct{ rpc.Stream }

func (s signIn) Read() (rpc.Message, error) {
	m, err := s.Stream.Read()
	return m, needsAuth(err)
}

func (s signIn) Write(ctx context.Context, m rpc.Message) error {
	return needsAuth(s.Stream.Write(ctx, m))
}

func needsAuth(err error) error {
	if errors.Is(err, remote.ErrAuth) {
		return errors.Join(hub.ErrNeedsAuth, err)
	}
	return err
}

// TestP8NoTokenPassthrough: what the agent authenticates with never reaches a server, the server gets what it was given,
// and its refusal is the tool's error, not one that makes the agent sign in to us.
func TestP8NoTokenPassthrough(t *testing.T) {
	r := &recorder{}
	backend := httptest.NewServer(r)
	t.Cleanup(backend.Close)
	dir := t.TempDir()
	host, err := process.New(filepath.Join(dir, "processes"), 0)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := manifest.OpenCache(filepath.Join(dir, "manifests"))
	if err != nil {
		t.Fatal(err)
	}
	launch := definition.Launch{Transport: definition.HTTP, URL: backend.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer its-own"}}
	server := hub.Server{ID: "r", Hash: "r", Definition: definition.Definition{ID: "r", Transport: definition.HTTP, URL: launch.URL}}
	h := hub.New(hub.Config{
		Processes: host, Manifests: cache, Dir: dir,
		Launch: func(context.Context, hub.Server, thread.ID, string) (definition.Launch, []string, error) {
			return launch, nil, nil
		},
		Dial: func(ctx context.Context, l definition.Launch, _ []string) (rpc.Stream, error) {
			s, err := remote.Dial(ctx, l, remote.Options{})
			return signIn{s}, err
		},
	})
	t.Cleanup(func() {
		_ = h.Close(context.Background())
		_ = host.Close()
		_ = cache.Close()
	})
	g, shelf, _ := newRig(t)
	shelf.set(own, serverOf("r", "x"))
	shelf.answer = func(ctx context.Context, _ string, c Caller, method string, params json.RawMessage) (json.RawMessage, error) {
		return h.Call(ctx, server, c, method, params)
	}
	a := connect(t, g, own, `{}`)
	if text, isError := a.tool("r__x", `{}`); isError || text != "done" {
		t.Fatalf("%v: %s", isError, text)
	}
	r.mu.Lock()
	r.refuses = true
	r.mu.Unlock()
	if text, isError := a.tool("r__x", `{}`); !isError || strings.Contains(text, "its-own") || strings.Contains(text, "evil.example") {
		t.Errorf("the server's 401 became %v: %s", isError, text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen.String()
	if !strings.Contains(seen, "Bearer its-own") || !strings.Contains(seen, "tools/call") {
		t.Errorf("the server got\n%s", seen)
	}
}
