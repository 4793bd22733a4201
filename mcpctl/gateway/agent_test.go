package gateway

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/mcpctl/mcptest"
	"orchestrator/thread"
	"orchestrator/thread/ground/rpc"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

// wait is how long something may take that happens at once.
const wait = 10 * time.Second

// agent is a client over lines that speaks raw messages.
type agent struct {
	testing.TB
	*rpc.Peer
	notes chan rpc.Message
	asked chan rpc.Message
	// answers takes the answers to what it is asked, one each.
	answers chan string
	ended   chan error
}

// Request implements rpc.Handler.
func (a *agent) Request(ctx context.Context, m rpc.Message) (json.RawMessage, error) {
	a.asked <- m
	select {
	case s := <-a.answers:
		return json.RawMessage(s), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Notification implements rpc.Handler.
func (a *agent) Notification(m rpc.Message) { a.notes <- m }

// connect connects an agent of a thread. It is of the era with a handshake if it has capabilities.
func connect(t testing.TB, g *Gateway, id thread.ID, capabilities string) *agent {
	t.Helper()
	left, right := net.Pipe()
	a := &agent{TB: t, notes: make(chan rpc.Message, 1000), asked: make(chan rpc.Message, 10), answers: make(chan string, 10), ended: make(chan error, 1)}
	a.Peer = rpc.NewPeer(rpc.NewLines(left, left, left, nil), a)
	go func() { a.ended <- g.Serve(id, "/p", rpc.NewLines(right, right, right, nil)) }()
	go func() { _ = a.Run() }()
	t.Cleanup(func() { _ = a.Close() })
	if capabilities != "" {
		a.must("initialize", `{"protocolVersion":"2025-06-18","capabilities":`+capabilities+`,"clientInfo":{"name":"raw","version":"1"}}`)
		if err := a.Notify(t.Context(), "notifications/initialized", nil); err != nil {
			t.Fatal(err)
		}
		a.must("ping", `{}`) // what was sent before has arrived
	}
	return a
}

// must calls and returns the result.
func (a *agent) must(method, params string) string {
	a.Helper()
	result, err := a.Call(context.Background(), method, json.RawMessage(params))
	if err != nil {
		a.Fatalf("%s %s: %v", method, params, err)
	}
	return string(result)
}

// tool calls a tool and returns the first text of its result.
func (a *agent) tool(name, arguments string) (text string, isError bool) {
	a.Helper()
	return firstText(a, a.must("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`))
}

func firstText(t testing.TB, result string) (text string, isError bool) {
	t.Helper()
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil || len(r.Content) == 0 {
		t.Fatalf("no content: %s, %v", result, err)
	}
	return r.Content[0].Text, r.IsError
}

// note returns the next notification.
func (a *agent) note() rpc.Message { return receive(a, a.notes, "a notification") }

// quiet fails if a notification has come.
func (a *agent) quiet(when string) {
	a.Helper()
	a.must("ping", `{}`)
	select {
	case m := <-a.notes:
		a.Errorf("%s: told %s %s", when, m.Method, m.Params)
	default:
	}
}

// stateless returns params of the stateless era.
func stateless(capabilities, more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"_meta":{"` + metaVersion + `":"` + modern + `","` + metaCapabilities + `":` + capabilities + `}` + more + `}`
}

func receive[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(wait):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// names returns the names in a list's result.
func names(t testing.TB, list string) string {
	t.Helper()
	var l map[string]json.RawMessage
	if err := json.Unmarshal([]byte(list), &l); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, key := range []string{"tools", "prompts", "resources", "resourceTemplates"} {
		var items []struct{ Name, URI string }
		if l[key] == nil {
			continue
		}
		if err := json.Unmarshal(l[key], &items); err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			if i.URI != "" {
				all = append(all, i.URI)
			} else {
				all = append(all, i.Name)
			}
		}
	}
	return strings.Join(all, " ")
}

// serverOf returns a server with tools.
func serverOf(id string, toolNames ...string) Server {
	s := Server{ID: id}
	for _, n := range toolNames {
		s.Tools = append(s.Tools, Tool{Name: n, Raw: encoded(map[string]any{"name": n, "inputSchema": map[string]any{"type": "object"}})})
	}
	return s
}
