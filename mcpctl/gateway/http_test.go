package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"orchestrator/mcpctl/rpc"
	"orchestrator/thread"
)

const otherToken = "fedcba9876543210fedcba9876543210"

// web serves a gateway and returns its address. own has token, t2 has otherToken.
func web(t testing.TB, g *Gateway) string {
	t.Helper()
	s := httptest.NewServer(g.NewWeb(func(s string) (thread.ID, string, bool) {
		switch s {
		case token:
			return own, "/p", true
		case otherToken:
			return "t2", "/p2", true
		}
		return "", "", false
	}))
	t.Cleanup(func() {
		_ = g.Close()
		s.Close()
	})
	return s.URL
}

// send sends a request with headers "Name: value" and returns the response, whose body the test must close.
func send(t testing.TB, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// body returns the status, headers and body of what was sent.
func body(t testing.TB, res *http.Response) string {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}`
	listTools  = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
)

// handshake begins a session with a handshake and returns the header of its requests.
func handshake(t testing.TB, url string) string {
	t.Helper()
	res := send(t, "POST", url, initialize)
	body(t, res)
	id := res.Header.Get(sessionHeader)
	if res.StatusCode != http.StatusOK || len(id) < 20 {
		t.Fatalf("%s, session %q", res.Status, id)
	}
	h := sessionHeader + ": " + id
	if res := send(t, "POST", url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, h); res.StatusCode != http.StatusAccepted || body(t, res) != "" {
		t.Fatal(res.Status)
	}
	return h
}

// TestHTTPChecks is the list of what is refused.
func TestHTTPChecks(t *testing.T) {
	g, shelf, _ := newRig(t)
	url := web(t, g)
	session := handshake(t, url)
	port := url[strings.LastIndex(url, ":"):]
	stateless := `{"jsonrpc":"2.0","id":"s","method":"ping","params":{"_meta":{"` + metaVersion + `":"` + modern + `"}}}`
	padded := func(n int) string {
		begin := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"`
		return begin + strings.Repeat("x", n-len(begin)-3) + `"}}`
	}
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     int64
	}{
		{"good token", "POST", "", listTools, []string{session}, 200, 0},
		{"no token", "POST", "", listTools, []string{session, "Authorization: "}, 401, 0},
		{"wrong token", "POST", "", listTools, []string{session, "Authorization: Bearer " + token[1:] + "x"}, 401, 0},
		{"part of a token", "POST", "", listTools, []string{session, "Authorization: Bearer " + token[:31]}, 401, 0},
		{"empty token", "POST", "", listTools, []string{session, "Authorization: Bearer "}, 401, 0},
		{"token without Bearer", "POST", "", listTools, []string{session, "Authorization: " + token}, 401, 0},
		{"token in the query", "POST", "?token=" + token + "&access_token=" + token, listTools, []string{session, "Authorization: "}, 401, 0},
		{"no token for GET", "GET", "", "", []string{session, "Authorization: "}, 401, 0},
		{"no token for DELETE", "DELETE", "", "", []string{session, "Authorization: "}, 401, 0},
		{"foreign host", "POST", "", listTools, []string{session, "Host: evil.example" + port}, 403, 0},
		{"host that begins like ours", "POST", "", listTools, []string{session, "Host: localhost.evil.example" + port}, 403, 0},
		{"host of the network", "POST", "", listTools, []string{session, "Host: 192.168.0.1" + port}, 403, 0},
		{"host without a port", "POST", "", listTools, []string{session, "Host: evil.example"}, 403, 0},
		{"localhost", "POST", "", listTools, []string{session, "Host: localhost" + port}, 200, 0},
		{"loopback of version 6", "POST", "", listTools, []string{session, "Host: [::1]" + port}, 200, 0},
		{"origin", "POST", "", listTools, []string{session, "Origin: http://evil.example"}, 403, 0},
		{"our own origin", "POST", "", listTools, []string{session, "Origin: " + url}, 403, 0},
		{"origin null", "POST", "", listTools, []string{session, "Origin: null"}, 403, 0},
		{"origin of GET", "GET", "", "", []string{session, "Origin: null"}, 403, 0},
		{"4 MiB", "POST", "", padded(4 << 20), []string{session}, 200, 0},
		{"4 MiB and a byte", "POST", "", padded(4<<20 + 1), []string{session}, 413, 0},
		{"5 MB", "POST", "", padded(5 << 20), []string{session}, 413, 0},
		{"no session", "POST", "", listTools, nil, 404, 0},
		{"unknown session", "POST", "", listTools, []string{sessionHeader + ": x"}, 404, 0},
		{"another thread's session", "POST", "", listTools, []string{session, "Authorization: Bearer " + otherToken}, 404, 0},
		{"another thread's stream", "GET", "", "", []string{session, "Authorization: Bearer " + otherToken}, 404, 0},
		{"end of another thread's session", "DELETE", "", "", []string{session, "Authorization: Bearer " + otherToken}, 404, 0},
		{"stream of no session", "GET", "", "", nil, 404, 0},
		{"PUT", "PUT", "", listTools, []string{session}, 405, 0},
		{"garbage", "POST", "", "hello", []string{session}, 400, rpc.CodeParse},
		{"nothing", "POST", "", "", []string{session}, 400, rpc.CodeParse},
		{"a batch", "POST", "", "[" + listTools + "]", []string{session}, 400, rpc.CodeParse},
		{"stateless", "POST", "", stateless, []string{versionHeader + ": " + modern, methodHeader + ": ping"}, 200, 0},
		{"stateless without the method", "POST", "", stateless, []string{versionHeader + ": " + modern}, 200, 0},
		{"stateless without the version", "POST", "", stateless, nil, 400, rpc.CodeHeader},
		{"stateless with another version", "POST", "", stateless, []string{versionHeader + ": 2025-11-25"}, 400, rpc.CodeHeader},
		{"stateless with another method", "POST", "", stateless, []string{versionHeader + ": " + modern, methodHeader + ": tools/call"}, 400, rpc.CodeHeader},
		{"version in the header only", "POST", "", listTools, []string{versionHeader + ": " + modern}, 400, rpc.CodeHeader},
		{"future version", "POST", "", strings.Replace(stateless, modern, "2099-01-01", 1), []string{versionHeader + ": 2099-01-01"}, 200, rpc.CodeVersion},
		{"stateless notification", "POST", "", `{"jsonrpc":"2.0","method":"x"}`, []string{versionHeader + ": " + modern}, 202, 0},
		{"response that nobody waits for", "POST", "", `{"jsonrpc":"2.0","id":5,"result":{}}`, []string{session}, 202, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := send(t, c.method, url+c.path, c.body, c.headers...)
			if c.method == "GET" && res.StatusCode == 200 {
				res.Body.Close()
				t.Fatal("a stream was opened")
			}
			text := body(t, res)
			m, _ := rpc.Decode([]byte(text))
			if res.StatusCode != c.status || c.code != 0 && (m.Error == nil || m.Error.Code != c.code) || c.code == 0 && m.Error != nil {
				t.Errorf("%s: %s", res.Status, text)
			}
			if strings.Contains(text, token) || res.Header.Get("Access-Control-Allow-Origin") != "" || res.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("%v %s", res.Header, text)
			}
		})
	}
	if len(shelf.seen()) != 0 {
		t.Errorf("servers were called: %s", shelf.seen())
	}
	if res := send(t, "DELETE", url, "", session); res.StatusCode != http.StatusNoContent || body(t, res) != "" {
		t.Errorf("DELETE: %s", res.Status)
	}
	if res := send(t, "POST", url, listTools, session); res.StatusCode != http.StatusNotFound || body(t, res) == "" {
		t.Errorf("after DELETE: %s", res.Status)
	}
}

// stream is an open stream of events.
type stream struct {
	*http.Response
	messages chan rpc.Message // closed at the end of the stream
}

func open(t testing.TB, method, url, body string, headers ...string) *stream {
	t.Helper()
	s := &stream{Response: send(t, method, url, body, headers...), messages: make(chan rpc.Message, 100)}
	if s.StatusCode != http.StatusOK {
		s.Body.Close()
		t.Fatal(s.Status)
	}
	go func() {
		defer close(s.messages)
		in := bufio.NewScanner(s.Body)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				if m, err := rpc.Decode([]byte(data)); err == nil {
					s.messages <- m
				}
			}
		}
	}()
	t.Cleanup(func() { s.Body.Close() })
	return s
}

// over waits for the end of the stream.
func (s *stream) over(t testing.TB, when string) {
	t.Helper()
	for range 3 {
		select {
		case m, open := <-s.messages:
			if !open {
				return
			}
			t.Logf("%s: %s %s", when, m.Method, m.Result)
		case <-time.After(wait):
			t.Fatalf("%s: the stream is open", when)
		}
	}
}

func TestHTTPStreamOfASession(t *testing.T) {
	g, shelf, _ := newRig(t)
	url := web(t, g)
	header := handshake(t, url)
	body(t, send(t, "POST", url, listTools, header))
	shelf.set(own, echoServer(), serverOf("b", "x"))
	g.Changed(own)
	if told, _ := g.Followed(own); !told.IsZero() {
		t.Error("an agent without a stream counts as told")
	}
	s := open(t, "GET", url, "", header)
	if m := receive(t, s.messages, "the change that it missed"); m.Method != "notifications/tools/list_changed" {
		t.Errorf("told %s", m.Method)
	}
	if res := send(t, "GET", url, "", header); res.StatusCode != http.StatusConflict || body(t, res) == "" {
		t.Errorf("a second stream: %s", res.Status)
	}
	shelf.set(own)
	g.Changed(own)
	if m := receive(t, s.messages, "a change"); m.Method != "notifications/tools/list_changed" {
		t.Errorf("told %s", m.Method)
	}
	body(t, send(t, "DELETE", url, "", header))
	s.over(t, "after DELETE")

	header = handshake(t, url)
	s = open(t, "GET", url, "", header)
	modernStream := open(t, "POST", url, `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":`+stateless(`{}`, `"notifications":{"toolsListChanged":true}`)+`}`,
		versionHeader+": "+modern)
	if m := receive(t, modernStream.messages, "the acknowledgement"); m.Method != "notifications/subscriptions/acknowledged" {
		t.Errorf("first %s", m.Method)
	}
	g.Drop(own)
	s.over(t, "after Drop")
	modernStream.over(t, "after Drop, stateless")
	if res := send(t, "POST", url, listTools, header); res.StatusCode != http.StatusNotFound || body(t, res) == "" {
		t.Errorf("after Drop: %s", res.Status)
	}
}

func TestHTTPCalls(t *testing.T) {
	g, shelf, _ := newRig(t)
	url := web(t, g)
	header := handshake(t, url)
	begun, cancelled := make(chan struct{}, 1), make(chan struct{}, 1)
	shelf.answer = func(ctx context.Context, _ string, c Caller, _ string, params json.RawMessage) (json.RawMessage, error) {
		if strings.Contains(string(params), "ask") {
			return c.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"?"}`))
		}
		begun <- struct{}{}
		<-ctx.Done()
		cancelled <- struct{}{}
		return nil, ctx.Err()
	}
	call := func(id int, do string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fake__echo","arguments":{"do":%q}}}`, id, do)
	}

	// A question arrives on the stream of the call, and only the session's own answer is taken.
	s := open(t, "POST", url, call(2, "ask"), header)
	q := receive(t, s.messages, "the question")
	if q.Method != "elicitation/create" {
		t.Fatalf("%s came", q.Method)
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, q.ID)
	body(t, send(t, "POST", url, strings.Replace(answer, "accept", "stolen", 1), handshake(t, url)))
	body(t, send(t, "POST", url, answer, header))
	if m := receive(t, s.messages, "the result"); string(m.Result) != `{"action":"accept"}` {
		t.Errorf("the result is %s, %v", m.Result, m.Error)
	}
	s.over(t, "after the result")

	// A call is cancelled by a notification, and an id is used once at a time.
	got := make(chan string, 1)
	go func() { got <- body(t, send(t, "POST", url, call(3, "hang"), header)) }()
	receive(t, begun, "the call")
	if text := body(t, send(t, "POST", url, call(3, "hang"), header)); !strings.Contains(text, "already being answered") {
		t.Error(text)
	}
	body(t, send(t, "POST", url, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, header))
	receive(t, cancelled, "the cancellation")
	receive(t, got, "the response")

	// The end of the session ends its calls; in the stateless era, the end of the request does.
	go func() { got <- body(t, send(t, "POST", url, call(4, "hang"), header)) }()
	receive(t, begun, "the call")
	body(t, send(t, "DELETE", url, "", header))
	receive(t, cancelled, "the cancellation")
	receive(t, got, "the response")
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+stateless(`{}`, `"name":"fake__echo"`)+`}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set(versionHeader, modern)
	go func() {
		if res, err := http.DefaultClient.Do(r); err == nil {
			res.Body.Close()
		}
	}()
	receive(t, begun, "the call")
	cancel()
	receive(t, cancelled, "the cancellation")
}

func TestHTTPSessionsAreLimited(t *testing.T) {
	g, _, _ := newRig(t)
	url := web(t, g)
	var last string
	for range maxWeb {
		last = handshake(t, url)
	}
	if res := send(t, "POST", url, initialize); res.StatusCode != http.StatusServiceUnavailable || body(t, res) == "" {
		t.Errorf("one more: %s", res.Status)
	}
	if res := send(t, "POST", url, initialize, "Authorization: Bearer "+otherToken); res.StatusCode != http.StatusOK || body(t, res) == "" {
		t.Errorf("another thread: %s", res.Status)
	}
	body(t, send(t, "DELETE", url, "", last))
	handshake(t, url)
	if n := len(g.Connections(own)); n != maxWeb {
		t.Errorf("%d connections", n)
	}
}

func TestCredentials(t *testing.T) {
	var c Credentials
	one := c.Give("t1", "/1")
	two := c.Give("t2", "/2")
	if len(one) != 32 || one == two {
		t.Fatalf("%q and %q", one, two)
	}
	again := c.Give("t1", "/3")
	for _, x := range []struct {
		token, dir string
		id         thread.ID
	}{{one, "", ""}, {two, "/2", "t2"}, {again, "/3", "t1"}, {"", "", ""}, {again + "x", "", ""}, {again[:31], "", ""}} {
		if id, dir, ok := c.Allowed(x.token); id != x.id || dir != x.dir || ok != (x.id != "") {
			t.Errorf("%q: %s, %s, %t", x.token, id, dir, ok)
		}
	}
	c.Revoke("t1")
	if _, _, ok := c.Allowed(again); ok {
		t.Error("a revoked token is allowed")
	}
}
