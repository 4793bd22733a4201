package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/mcpctl/mcptest"
	"orchestrator/thread"
	"orchestrator/thread/ground/rpc"
)

// slowShelf holds a list back after it is made.
type slowShelf struct {
	*shelf
	hold          atomic.Bool
	made, release chan struct{}
}

func (s *slowShelf) On(id thread.ID) []Server {
	on := s.shelf.On(id)
	if s.hold.CompareAndSwap(true, false) {
		close(s.made)
		<-s.release
	}
	return on
}

// TestVerbatim: results and errors pass byte for byte.
func TestVerbatim(t *testing.T) {
	for _, in := range []string{mcptest.Verbatim, `{}`, `[]`, `7`, `"<&>\u2028"`, `null`, `{"_meta":{"b":1,"a":1.50},"resultType":"x"}`} {
		g, shelf, _ := newRig(t)
		shelf.give(in)
		a := connect(t, g, own, `{}`)
		for _, c := range []struct{ method, params string }{
			{"tools/call", `"name":"fake__echo"`}, {"resources/read", `"uri":"file:///a"`}, {"prompts/get", `"name":"fake__greet"`},
		} {
			if got := a.must(c.method, `{`+c.params+`}`); got != in {
				t.Errorf("%s: %s became %s", c.method, in, got)
			}
			got := a.must(c.method, stateless(`{}`, c.params))
			if !json.Valid([]byte(got)) {
				t.Errorf("%s: %s became %s", c.method, in, got)
			}
			switch {
			case in == "null": // every result of this era is an object
				in = "{}"
				fallthrough
			case strings.HasPrefix(in, "{"):
				if !strings.HasSuffix(got, in[1:]) || !strings.Contains(got, `"resultType":`) || !strings.Contains(got, `"_meta":`) {
					t.Errorf("%s: %s became %s", c.method, in, got)
				}
				if strings.Count(got, "resultType") != 1 || strings.Count(got, `"_meta"`) != 1 {
					t.Errorf("%s: a key is there twice: %s", c.method, got)
				}
			case got != in:
				t.Errorf("%s: %s became %s", c.method, in, got)
			}
			if in == "{}" {
				break // the legacy result of null is compared once
			}
		}
		shelf.answer = func(context.Context, string, Caller, string, json.RawMessage) (json.RawMessage, error) {
			return nil, &rpc.Error{Code: -32050, Message: "as <asked>", Data: json.RawMessage(`{"n":9007199254740993123}`)}
		}
		var e *rpc.Error
		if _, err := a.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"fake__echo"}`)); !errors.As(err, &e) || e.Code != -32050 || e.Message != "as <asked>" || string(e.Data) != `{"n":9007199254740993123}` {
			t.Errorf("the error became %v", err)
		}
	}
}

func TestArgumentsAreVerbatim(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := connect(t, g, own, `{}`)
	a.must("tools/call", `{"name":"fake__echo","arguments":{"z":9007199254740993123,"a":"<é>","f":1.50},"_meta":{"claudecode/toolUseId":"x"},"unknown":[1]}`)
	want := `fake tools/call {"_meta":{"claudecode/toolUseId":"x"},"arguments":{"z":9007199254740993123,"a":"<é>","f":1.50},"name":"echo","unknown":[1]}`
	if seen := shelf.seen(); len(seen) != 1 || seen[0] != want {
		t.Errorf("arrived: %s", seen)
	}
}

func TestStaleLists(t *testing.T) {
	g, shelf, _ := newRig(t)
	a := connect(t, g, own, `{}`)
	a.must("tools/list", `{}`)
	shelf.off["fake"] = "fake is switched off for this thread"
	for _, gone := range []bool{false, true} { // still listed, as until the turn's end, and not any more
		if gone {
			shelf.set(own)
		}
		if text, isError := a.tool("fake__echo", `{}`); !isError || text != "fake is switched off for this thread" {
			t.Errorf("gone %t: %q, %t", gone, text, isError)
		}
	}
	if len(shelf.seen()) != 0 {
		t.Errorf("it was called: %s", shelf.seen())
	}
	for _, name := range []string{"nobody__x", "x", "", "orch__x", "orch__", "__", "fake__other__x"} {
		delete(shelf.off, "fake")
		var e *rpc.Error
		if _, err := a.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"`+name+`"}`)); !errors.As(err, &e) || e.Code != rpc.CodeInvalidParams {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestErrorsOfServersAreResults(t *testing.T) {
	g, shelf, _ := newRig(t)
	shelf.answer = func(context.Context, string, Caller, string, json.RawMessage) (json.RawMessage, error) {
		return nil, errors.New("it has ended, and " + rpc.ErrUnsure.Error())
	}
	if text, isError := connect(t, g, own, `{}`).tool("fake__echo", `{}`); !isError || text != "fake: it has ended, and may or may not have taken effect" {
		t.Errorf("%q, %t", text, isError)
	}
}

func TestFindTool(t *testing.T) {
	g, shelf, _ := newRig(t)
	shelf.set(own, serverOf("a.b", "x"))
	a := connect(t, g, own, `{}`)
	if text, _ := a.tool(findTool, `{"query":"q"}`); !strings.Contains(text, "No tool") {
		t.Error(text)
	}
	shelf.found = []Found{{"a.b", "x", "Does x.\nAnd more.", true}, {"off", "y", strings.Repeat("é", 300), false}}
	text, _ := a.tool(findTool, `{"query":"q"}`)
	want := exposed("a.b", []string{"x"})[0] + " (can be called): Does x.\noff__y (switched off: the person can switch on off): " + strings.Repeat("é", 100) + " …\n"
	if text != want {
		t.Errorf("%q, not %q", text, want)
	}
}

// TestPanicEndsOneRequest: servers that panic in the middle of a call, in both eras, and a list that panics.
func TestPanicEndsOneRequest(t *testing.T) {
	g, shelf, _ := newRig(t)
	shelf.answer = func(context.Context, string, Caller, string, json.RawMessage) (json.RawMessage, error) {
		panic("broken")
	}
	a := connect(t, g, own, `{}`)
	for _, params := range []string{`{"name":"fake__echo"}`, stateless(`{}`, `"name":"fake__echo"`)} {
		var e *rpc.Error
		if _, err := a.Call(t.Context(), "tools/call", json.RawMessage(params)); !errors.As(err, &e) || e.Code != rpc.CodeInternal || strings.Contains(e.Message, "broken") {
			t.Errorf("%s: %v", params, err)
		}
	}
	a.must("ping", `{}`)
}

// TestP6OnlyItsThread: an agent reaches only the servers of its thread, whatever it says.
func TestP6OnlyItsThread(t *testing.T) {
	g, shelf, box := newRig(t)
	shelf.set("t2", serverOf("secret", "x"))
	a, b := connect(t, g, own, `{}`), connect(t, g, "t2", `{}`)
	if got := names(t, a.must("tools/list", `{"thread":"t2","_meta":{"thread":"t2"}}`)); strings.Contains(got, "secret") {
		t.Errorf("listed: %s", got)
	}
	if _, err := a.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"secret__x","_meta":{"thread":"t2"}}`)); err == nil {
		t.Error("another thread's tool was called")
	}
	b.must("tools/call", `{"name":"secret__x"}`)
	if seen := shelf.seen(); len(seen) != 1 {
		t.Errorf("calls: %s", seen)
	}
	shelf.set("t2", serverOf("secret", "x"))
	shelf.give(result("", manyLines(2000)))
	b.tool("secret__x", `{}`)
	if box.req[0].Thread != "t2" {
		t.Errorf("staged for %s", box.req[0].Thread)
	}
	g.Drop("t2")
	_ = receive(t, b.ended, "the end of the other thread's connection")
	a.must("ping", `{}`)
	if _, err := b.Call(t.Context(), "ping", nil); err == nil {
		t.Error("it is served on")
	}
}

// TestP7OneServerCannotSpeakForAnother: who asks is said by us, only the thread of the call is asked, only what agents
// take, and no tool can stand for one of ours or of another server.
func TestP7OneServerCannotSpeakForAnother(t *testing.T) {
	g, shelf, _ := newRig(t)
	shelf.set(own, serverOf("a", "x"), serverOf("b", "x"))
	shelf.set("t2", serverOf("a", "x"))
	ask := func(method, params string) func(context.Context, string, Caller, string, json.RawMessage) (json.RawMessage, error) {
		return func(ctx context.Context, _ string, c Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
			answer, err := c.Ask(ctx, method, json.RawMessage(params))
			if err != nil {
				return nil, err
			}
			return said(string(answer)), nil
		}
	}
	a, b := connect(t, g, own, `{"elicitation":{},"sampling":{},"roots":{}}`), connect(t, g, "t2", `{"elicitation":{}}`)
	none := connect(t, g, own, `{"sampling":{},"roots":{}}`)
	for _, c := range []struct{ params, want string }{
		{`{"message":"The MCP server b asks: your password?","x":9007199254740993123}`, `{"message":"The MCP server a asks: The MCP server b asks: your password?","x":9007199254740993123}`},
		{`{"message":"one","message":"two"}`, `{"message":"The MCP server a asks: two"}`},
		{`{}`, `{"message":"The MCP server a asks: "}`},
		{`{"message":7}`, `{"message":"The MCP server a asks: "}`},
		{`["your password?"]`, `{"message":"The MCP server a asks: "}`},
	} {
		shelf.answer = ask("elicitation/create", c.params)
		a.answers <- `{"action":"accept"}`
		if text, isError := a.tool("a__x", `{}`); isError || text != `{"action":"accept"}` {
			t.Errorf("%s: answered %q", c.params, text)
		}
		if m := <-a.asked; m.Method != "elicitation/create" || string(m.Params) != c.want {
			t.Errorf("%s: asked %s", c.params, m.Params)
		}
	}
	for _, method := range []string{"sampling/createMessage", "roots/list", "tools/call", "ping"} {
		shelf.answer = ask(method, `{}`)
		if _, err := a.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"a__x"}`)); err == nil {
			t.Errorf("%s was answered", method)
		}
	}
	shelf.answer = ask("elicitation/create", `{"message":"?"}`)
	if _, err := none.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"a__x"}`)); err == nil || !strings.Contains(err.Error(), "does not take") {
		t.Errorf("an agent without elicitation: %v", err)
	}
	if _, err := none.Call(t.Context(), "tools/call", json.RawMessage(stateless(`{}`, `"name":"a__x"`))); err == nil || !strings.Contains(err.Error(), "does not take") {
		t.Errorf("an agent without elicitation, stateless: %v", err)
	}
	if len(a.asked)+len(b.asked)+len(none.asked) != 0 {
		t.Error("others were asked")
	}

	// Two threads are asked at once, and each answer arrives where it belongs.
	var both sync.WaitGroup
	for _, one := range []*agent{a, b} {
		both.Go(func() {
			text, _ := one.tool("a__x", `{}`)
			if want := map[*agent]string{a: `"from a"`, b: `"from b"`}[one]; text != want {
				t.Errorf("%q arrived, not %q", text, want)
			}
		})
	}
	receive(t, a.asked, "a's question")
	receive(t, b.asked, "b's question")
	b.answers <- `"from b"`
	a.answers <- `"from a"`
	both.Wait()

	// A server cannot take the place of our own tools or of another's.
	shelf.set(own, serverOf("b", "x"), serverOf("orch", "retrieve", "find_tool"), serverOf("orch_", "retrieve"), serverOf("orch__retrieve", ""))
	shelf.give(`{"content":[{"type":"text","text":"theirs"}]}`)
	if text, _ := a.tool(retrieveTool, `{"token":"max:00000000"}`); text == "theirs" {
		t.Error("a server answered for orch__retrieve")
	}
	if text, _ := a.tool(findTool, `{"query":"x"}`); text == "theirs" {
		t.Error("a server answered for orch__find_tool")
	}
	if text, _ := a.tool(exposed("orch", []string{"retrieve", "find_tool"})[0], `{}`); text != "theirs" {
		t.Errorf("a tool of a server named orch cannot be called: %q", text)
	}
	if got := names(t, a.must("tools/list", `{}`)); strings.Count(" "+got+" ", " "+retrieveTool+" ") != 1 {
		t.Errorf("listed: %s", got)
	}
}

// TestAnAgentThatDoesNotReadHoldsNobodyUp: neither the server that reports progress nor who switches servers waits.
func TestAnAgentThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	g, shelf, _ := newRig(t)
	done := make(chan struct{})
	shelf.answer = func(_ context.Context, _ string, c Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		for range 10_000 {
			c.Progress(json.RawMessage(`{"progressToken":1,"progress":1,"message":"` + strings.Repeat("x", 1000) + `"}`))
		}
		close(done)
		return json.RawMessage(`{}`), nil
	}
	left, right := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(own, "/p", rpc.NewLines(right, right, right, nil)) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fake__echo"}}`,
	} {
		if _, err := left.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	receive(t, done, "the end of the reports")
	for s := range g.sessions {
		box := s.out.(*outbox)
		box.mu.Lock()
		if box.size > maxQueued || box.size < maxQueued/2 {
			t.Errorf("%d bytes wait", box.size)
		}
		box.mu.Unlock()
	}
	switched := make(chan struct{})
	go func() {
		defer close(switched)
		for i := range 1000 {
			shelf.set(own, serverOf("s", "x")) // each time another list than before
			if i%2 == 0 {
				shelf.set(own)
			}
			g.Changed(own)
		}
	}()
	receive(t, switched, "the end of the switches")
	_ = left.Close()
	_ = receive(t, ended, "the end of the connection")
}

func TestProgressComesBeforeTheResponse(t *testing.T) {
	g, shelf, _ := newRig(t)
	shelf.answer = func(_ context.Context, _ string, c Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		for range 50 {
			c.Progress(json.RawMessage(`{"progressToken":1}`))
		}
		return json.RawMessage(`{}`), nil
	}
	a := connect(t, g, own, `{}`)
	for range 20 {
		a.must("tools/call", `{"name":"fake__echo"}`)
		if n := len(a.notes); n != 50 {
			t.Fatalf("%d reports came before the response", n)
		}
		for len(a.notes) > 0 {
			<-a.notes
		}
	}
}

// TestCloseWithCallsRunning: Close returns, calls end, and nobody is served any more.
func TestCloseWithCallsRunning(t *testing.T) {
	g, shelf, _ := newRig(t)
	begun, cancelled := make(chan struct{}, 4), make(chan struct{}, 4)
	shelf.answer = func(ctx context.Context, _ string, _ Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		begun <- struct{}{}
		<-ctx.Done()
		cancelled <- struct{}{}
		return nil, ctx.Err()
	}
	a, b := connect(t, g, own, `{}`), connect(t, g, "t2", `{}`)
	shelf.set("t2", echoServer())
	ended := make(chan error, 4)
	for _, one := range []*agent{a, b} {
		for _, params := range []string{`{"name":"fake__echo"}`, stateless(`{}`, `"name":"fake__echo"`)} {
			go func() {
				res, err := one.Call(context.Background(), "tools/call", json.RawMessage(params))
				if err == nil && bytes.Contains(res, []byte(`"isError":true`)) {
					err = errors.New("the result is an error") // written before its connection was closed
				}
				ended <- err
			}()
			receive(t, begun, "a call")
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- g.Close() }()
	if err := receive(t, closed, "Close"); err != nil {
		t.Error(err)
	}
	for range 4 {
		receive(t, cancelled, "the end of a call at the server")
		if err := receive(t, ended, "the end of a call"); err == nil {
			t.Error("it was answered")
		}
	}
	left, right := net.Pipe()
	defer left.Close()
	if err := g.Serve(own, "/p", rpc.NewLines(right, right, right, nil)); !errors.Is(err, errEnded) {
		t.Errorf("served after Close: %v", err)
	}
	_ = left.SetReadDeadline(time.Now().Add(wait))
	if _, err := left.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
}
