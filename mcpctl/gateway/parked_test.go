package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread/ground/rpc"
)

// parkedCall returns what a parked call is found by, and what was asked.
func parkedCall(t testing.TB, result string) (state, question string) {
	t.Helper()
	var r struct {
		ResultType, RequestState string
		InputRequests            map[string]struct {
			Method string
			Params json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil || r.ResultType != "input_required" || len(r.InputRequests) != 1 {
		t.Fatalf("not parked: %s, %v", result, err)
	}
	return r.RequestState, string(r.InputRequests[inputKey].Params)
}

// askTwice is a server that asks twice and says what it was answered.
func askTwice(ended chan<- error) func(context.Context, string, Caller, string, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, _ string, c Caller, _ string, _ json.RawMessage) (result json.RawMessage, err error) {
		defer func() { ended <- err }()
		var all []string
		for _, q := range []string{"one", "two"} {
			answer, err := c.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"`+q+`"}`))
			if err != nil {
				return nil, err
			}
			all = append(all, string(answer))
		}
		return said(strings.Join(all, " ")), nil
	}
}

const withElicitation = `{"elicitation":{}}`

func answerOf(state, answer string) string {
	return stateless(withElicitation, fmt.Sprintf(`"name":"fake__echo","requestState":%q,"inputResponses":{"1":%s}`, state, answer))
}

func refusedParams(t testing.TB, a *agent, params, when string) {
	t.Helper()
	var e *rpc.Error
	if result, err := a.Call(context.Background(), "tools/call", json.RawMessage(params)); !errors.As(err, &e) || e.Code != rpc.CodeInvalidParams {
		t.Errorf("%s: %s, %v", when, result, err)
	}
}

func TestParkedCalls(t *testing.T) {
	g, shelf, _ := newRig(t)
	shelf.set("t2", echoServer())
	shelf.set(own, echoServer(), serverOf("other", "x"))
	ended := make(chan error, 10)
	shelf.answer = askTwice(ended)
	a, other := connect(t, g, own, ""), connect(t, g, "t2", "")
	begin := stateless(withElicitation, `"name":"fake__echo"`)

	one, asked := parkedCall(t, a.must("tools/call", begin))
	if asked != `{"message":"The MCP server fake asks: one"}` {
		t.Errorf("asked %s", asked)
	}
	refusedParams(t, other, answerOf(one, `"stolen"`), "another thread")
	refusedParams(t, a, strings.Replace(answerOf(one, `"wrong"`), "fake__echo", "other__x", 1), "another server")
	refusedParams(t, a, answerOf(one+"x", `"wrong"`), "no such state")
	if _, err := a.Call(t.Context(), "prompts/get", json.RawMessage(strings.Replace(answerOf(one, `"wrong"`), "fake__echo", "fake__greet", 1))); err == nil {
		t.Error("another method was taken")
	}
	two, asked := parkedCall(t, a.must("tools/call", answerOf(one, `{"n":9007199254740993123}`)))
	if asked != `{"message":"The MCP server fake asks: two"}` || two == one {
		t.Errorf("asked %s, state %s after %s", asked, two, one)
	}
	refusedParams(t, a, answerOf(one, `"again"`), "the same answer twice")
	if text, _ := firstText(t, a.must("tools/call", answerOf(two, `2`))); text != `{"n":9007199254740993123} 2` {
		t.Errorf("answered %q", text)
	}
	refusedParams(t, a, answerOf(two, `2`), "after the end")
	if err := receive(t, ended, "the end"); err != nil {
		t.Error(err)
	}

	// An answer that is missing ends the call.
	for _, params := range []string{`"inputResponses":{"2":{}}`, `"inputResponses":7`, `"x":1`} {
		state, _ := parkedCall(t, a.must("tools/call", begin))
		refusedParams(t, a, stateless(withElicitation, `"name":"fake__echo","requestState":"`+state+`",`+params), params)
		if err := receive(t, ended, "the end"); err == nil {
			t.Error("the call went on")
		}
	}

	// A cancelled request ends the call, also after it was parked once.
	shelf.answer = func(ctx context.Context, _ string, c Caller, _ string, _ json.RawMessage) (json.RawMessage, error) {
		_, err := c.Ask(ctx, "elicitation/create", json.RawMessage(`{}`))
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, err
	}
	state, _ := parkedCall(t, a.must("tools/call", begin))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := a.Call(ctx, "tools/call", json.RawMessage(answerOf(state, `1`))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the cancelled call: %v", err)
	}
	if err := receive(t, ended, "the cancellation"); err == nil {
		t.Error("the call went on")
	}
	if n := len(shelf.seen()); n != 5 {
		t.Errorf("%d calls arrived: %s", n, shelf.seen())
	}
}

// TestParkedCallsExpire: a question that nobody answers is given up after ten minutes.
func TestParkedCallsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, shelf, _ := newRig(t)
		g := New(Config{Servers: shelf}) // of the bubble
		ended := make(chan error, 1)
		shelf.answer = askTwice(ended)
		a := connect(t, g, own, "")
		state, _ := parkedCall(t, a.must("tools/call", stateless(withElicitation, `"name":"fake__echo"`)))
		time.Sleep(parkedFor - time.Second)
		synctest.Wait()
		if len(ended) != 0 {
			t.Fatal("it has expired too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(ended) != 1 || <-ended == nil {
			t.Error("it goes on")
		}
		refusedParams(t, a, answerOf(state, `1`), "after it has expired")
		_ = a.Close()
		_ = g.Close()
	})
}

func TestTooManyParkedCalls(t *testing.T) {
	g, shelf, _ := newRig(t)
	ended := make(chan error, maxParked+1)
	shelf.answer = askTwice(ended)
	a := connect(t, g, own, "")
	begin := stateless(withElicitation, `"name":"fake__echo"`)
	for range maxParked {
		parkedCall(t, a.must("tools/call", begin))
	}
	if _, err := a.Call(t.Context(), "tools/call", json.RawMessage(begin)); err == nil {
		t.Error("one more is parked")
	}
	if err := receive(t, ended, "the end of the call"); err == nil {
		t.Error("it goes on")
	}
}

// TestQuestionsOfStatelessServers: an agent with a handshake is asked, and a stateless one gets the question as it is.
func TestQuestionsOfStatelessServers(t *testing.T) {
	g, shelf, _ := newRig(t)
	question := `{"resultType":"input_required","requestState":"orch:theirs","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"name?"},"x":1}},"y":9007199254740993123}`
	shelf.answer = func(_ context.Context, _ string, _ Caller, _ string, params json.RawMessage) (json.RawMessage, error) {
		if !strings.Contains(string(params), "inputResponses") {
			return json.RawMessage(question), nil
		}
		return said(string(params)), nil
	}
	a := connect(t, g, own, withElicitation)
	a.answers <- `{"action":"accept"}`
	text, _ := a.tool("fake__echo", `{}`)
	if m := receive(t, a.asked, "the question"); string(m.Params) != `{"message":"The MCP server fake asks: name?"}` {
		t.Errorf("asked %s", m.Params)
	}
	if !strings.Contains(text, `"inputResponses":{"q":{"action":"accept"}}`) || !strings.Contains(text, `"requestState":"orch:theirs"`) {
		t.Errorf("answered %s", text)
	}
	got := a.must("tools/call", stateless(withElicitation, `"name":"fake__echo"`))
	for _, want := range []string{`"The MCP server fake asks: name?"`, `"y":9007199254740993123`, `"x":1`, `"resultType":"input_required"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	shelf.give(question) // asks without end
	for range maxRounds {
		a.answers <- `{}`
	}
	if text, isError := a.tool("fake__echo", `{}`); !isError || !strings.Contains(text, "asked more than") {
		t.Errorf("%q, %t", text, isError)
	}
	for len(a.asked) > 0 {
		<-a.asked
	}
}
