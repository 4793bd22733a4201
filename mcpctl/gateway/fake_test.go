package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"orchestrator/thread"
)

// shelf is a set of servers that answer in the test's process.
type shelf struct {
	mu     sync.Mutex
	on     map[thread.ID][]Server
	off    map[string]string // by server
	answer func(ctx context.Context, server string, c Caller, method string, params json.RawMessage) (json.RawMessage, error)
	calls  []string // method and params, as they arrived
	found  []Found
}

func (s *shelf) On(id thread.ID) []Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on[id]
}

func (s *shelf) set(id thread.ID, on ...Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on[id] = on
}

func (s *shelf) Off(_ thread.ID, server, _ string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.off[server]
}

func (s *shelf) Call(ctx context.Context, server string, c Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	s.mu.Lock()
	s.calls = append(s.calls, server+" "+method+" "+string(params))
	s.mu.Unlock()
	return s.answer(ctx, server, c, method, params)
}

func (s *shelf) Find(context.Context, thread.ID, string) []Found { return s.found }

func (s *shelf) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.calls...)
}

// box keeps what is staged.
type box struct {
	mu  sync.Mutex
	all map[string]string
	req []thread.StageRequest
}

func (b *box) Stage(_ context.Context, r thread.StageRequest, data io.Reader) (thread.Staged, error) {
	raw, err := io.ReadAll(data)
	if err != nil {
		return thread.Staged{}, err
	}
	if err := r.Check(); err != nil {
		return thread.Staged{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := thread.Token(fmt.Sprintf("max:%08x", len(b.all)+1))
	b.all[string(t)] = string(raw)
	b.req = append(b.req, r)
	kind := r.Kind
	if kind == "" {
		kind = thread.DataText
	}
	return thread.Staged{Token: t, Kind: kind, Records: int64(strings.Count(string(raw), "\n")), Bytes: int64(len(raw))}, nil
}

func (b *box) Read(_ context.Context, _ thread.ID, token string, part thread.Selection, to io.Writer) error {
	b.mu.Lock()
	text, ok := b.all[token]
	b.mu.Unlock()
	if !ok {
		return fmt.Errorf("staged data %s: %w", token, thread.ErrNotFound)
	}
	n := int64(0)
	for i, line := range strings.SplitAfter(text, "\n") {
		at := int64(i + 1)
		if at < part.From || part.To > 0 && at > part.To || !strings.Contains(line, part.Grep) {
			continue
		}
		if n++; part.Head > 0 && n > part.Head {
			return nil
		}
		if _, err := io.WriteString(to, line); err != nil {
			return err
		}
	}
	return nil
}

const own = thread.ID("t1")

// echoTool is a tool with much that must not be lost.
const echoTool = `{"name":"echo","description":"Says it again.","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993123}}},` +
	`"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"x-unknown":{"big":9007199254740993123}}`

func newRig(t *testing.T) (*Gateway, *shelf, *box) {
	t.Helper()
	s := &shelf{on: map[thread.ID][]Server{}, off: map[string]string{}}
	b := &box{all: map[string]string{}}
	g := New(Config{Servers: s, Stager: b, Version: "v1"})
	t.Cleanup(func() { _ = g.Close() })
	s.set(own, echoServer())
	s.answer = func(_ context.Context, _ string, _ Caller, _ string, params json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":` + string(encoded(string(params))) + `}]}`), nil
	}
	return g, s, b
}

func echoServer() Server {
	return Server{
		ID: "fake", Tools: []Tool{{Name: "echo", Raw: json.RawMessage(echoTool)}},
		Prompts:   []json.RawMessage{json.RawMessage(`{"name":"greet","arguments":[{"name":"who"}]}`)},
		Resources: []json.RawMessage{json.RawMessage(`{"uri":"file:///a","name":"a"}`)},
		Templates: []json.RawMessage{json.RawMessage(`{"uriTemplate":"db://{table}","name":"t"}`)},
	}
}
