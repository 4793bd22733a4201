package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread/ground/rpc"
)

// canaries are what must not be in an error.
const canary = "canary-7f3a9c"

func answer(id any, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":%s}`, id, result)
}

// idOf is the id of a request's message.
func idOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	m, err := rpc.Decode(body)
	if err != nil {
		return "0"
	}
	return string(m.ID)
}

func TestFaults(t *testing.T) {
	other, elsewhere := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	sends := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			id := idOf(r)
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", id))
		}
	}
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, r.Header.Get("Authorization")+r.URL.RawQuery) // servers repeat what they got
		}
	}
	for _, c := range []struct {
		name   string
		do     http.HandlerFunc
		want   string // result, or a part of the error
		unsure bool
	}{
		{"JSON", sends("application/json; charset=utf-8", answer("ID", `{"n":1e400,"b":9007199254740993123, "z" : 1,"a":2}`)), `{"n":1e400,"b":9007199254740993123, "z" : 1,"a":2}`, false},
		{"events", sends("text/event-stream", ": hi\r\n\r\nevent: message\r\ndata: "+answer("ID", `{"a":1}`)+"\r\n\r\n"), `{"a":1}`, false},
		{"lines of data", sends("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":ID,\ndata:\"result\":{}}\n\n"), `{}`, false},
		{"another event", sends("text/event-stream", "event: other\ndata: "+answer("ID", `1`)+"\n\ndata: "+answer("ID", `2`)+"\n\n"), `2`, false},
		{"an array", sends("application/json", `[{"jsonrpc":"2.0","method":"n"},`+answer("ID", `3`)+`]`), `3`, false},
		{"answered twice", sends("text/event-stream", "data: "+answer("ID", `1`)+"\n\ndata: "+answer("ID", `2`)+"\n\n"), `1`, false},
		{"another's answer", sends("application/json", answer(99, `1`)), "before the response", true},
		{"an error", sends("application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-5,"message":"no"}}`), "no (code -5)", false},
		{"an error with a status", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"version"}}`)
		}, "version (code -32022)", false},
		{"garbage", sends("application/json", "<html>"), "before the response", true},
		{"nothing", sends("application/json", ""), "before the response", true},
		{"a page", sends("text/html", "<html>"), `"text/html"`, true},
		{"an event without end", sends("text/event-stream", "data: "+answer("ID", `1`)+"\n"), "before the response", true},
		{"202", status(202), "202", false},
		{"400", status(400), "400 Bad Request", false},
		{"404", status(404), "404 Not Found", false},
		{"500", status(500), "500 Internal", true},
		{"401", status(401, "WWW-Authenticate", "Bearer x="+canary), "sign-in needed (401", false},
		{"403", status(403), "sign-in needed (403", false},
		{"redirected away", status(307, "Location", elsewhere), "redirected to another host", false},
		{"redirected to another method", status(302, "Location", "/"), "redirected with another method", false},
		{"redirected for ever", status(307, "Location", "/"), "redirected too often", false},
		{"large headers", status(200, "X", strings.Repeat("x", 2*maxHeader)), "exceeded", true},
		{"hangs up", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}, "EOF", true},
		{"hangs up in the answer", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
		}, "unexpected EOF", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, at := serve(t, c.do)
			at = strings.Replace(at, "://", "://ann:"+canary+"@", 1) + "/mcp?key=" + canary
			p, _ := dial(t, definition.Launch{Transport: definition.HTTP, URL: at, Headers: map[string]string{"Authorization": "Bearer " + canary, "Mcp-Session-Id": "ours", "Accept": "x"}}, Options{})
			got, err := p.Call(t.Context(), "tools/list", json.RawMessage(`{}`))
			switch {
			case err == nil:
				if string(got) != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			case !strings.Contains(err.Error(), c.want):
				t.Errorf("%v, want %s", err, c.want)
			case errors.Is(err, rpc.ErrUnsure) != c.unsure:
				t.Errorf("%v: unsure %v, want %v", err, !c.unsure, c.unsure)
			case strings.Contains(err.Error(), canary):
				t.Errorf("a secret is in %v", err)
			}
			var auth *AuthError
			if is := errors.As(err, &auth); is != (c.name == "401" || c.name == "403") || is != errors.Is(err, ErrAuth) {
				t.Errorf("%v", err)
			}
			if c.name == "401" && (len(auth.Challenge) != 1 || !strings.Contains(auth.Challenge[0], canary)) {
				t.Errorf("%+v", auth)
			}
		})
	}
	if n := len(other.requests(http.MethodPost)) + len(other.requests(http.MethodGet)); n != 0 {
		t.Errorf("%d requests went to another host", n)
	}
}

func TestUnreachable(t *testing.T) {
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + on.Addr().String() + "/?key=" + canary
	_ = on.Close()
	p, _ := dial(t, definition.Launch{Transport: definition.HTTP, URL: at}, Options{})
	if _, err := p.Call(t.Context(), "x", nil); err == nil || errors.Is(err, rpc.ErrUnsure) || strings.Contains(err.Error(), canary) {
		t.Errorf("%v", err)
	}
	if _, err := Dial(t.Context(), definition.Launch{Transport: definition.SSE, URL: at}, Options{}); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "ftp://x/" + canary, "http:///" + canary, "http://%zz" + canary, "file:///etc/passwd"} {
		if _, err := Dial(t.Context(), definition.Launch{Transport: definition.HTTP, URL: bad}, Options{}); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := Dial(t.Context(), definition.Launch{Transport: definition.Stdio, URL: "http://x"}, Options{}); err == nil {
		t.Error("stdio is dialled")
	}
}

func TestTooLarge(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		var sent atomic.Int32 // MiB
		_, at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":`+idOf(r)+`,"result":"`)
			chunk := strings.Repeat("x", 1<<20)
			for range 200 {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
				sent.Add(1)
			}
			_, _ = io.WriteString(w, "\"}\n\n")
		}))
		p, _ := dial(t, definition.Launch{Transport: definition.HTTP, URL: at}, Options{})
		if _, err := p.Call(t.Context(), "x", nil); err == nil || !strings.Contains(err.Error(), "too long") && !strings.Contains(err.Error(), "longer") {
			t.Errorf("%s: %v", kind, err)
		}
		if n := sent.Load(); n > 150 {
			t.Errorf("%s: %d MiB are read", kind, n)
		}
	}
}

// Two responses to one request arrive as one; initialize is never cancelled.
func TestOnce(t *testing.T) {
	hangs, ended := make(chan struct{}), make(chan struct{})
	w, at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "initialize") {
			close(hangs)
			<-r.Context().Done()
			close(ended)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "["+answer(1, "1")+","+answer(1, "2")+`,{"jsonrpc":"2.0","method":"last"}]`)
	}))
	s, err := Dial(t.Context(), definition.Launch{Transport: definition.HTTP, URL: at}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Write(t.Context(), rpc.Message{ID: json.RawMessage("1"), Method: "x"}); err != nil {
		t.Fatal(err)
	}
	first, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	if last, err := s.Read(); err != nil || string(first.Result) != "1" || last.Method != "last" {
		t.Errorf("%s, then %+v, %v", first.Result, last, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-hangs
		stop()
	}()
	if err := s.Write(ctx, rpc.Message{ID: json.RawMessage("2"), Method: "initialize"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	arrives(t, ended, "the end of the request")
	if n := len(w.requests(http.MethodPost)); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// A session that the server has forgotten ends the stream, so that a new one is opened.
func TestSessionGone(t *testing.T) {
	gone := make(chan struct{})
	w, at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		select {
		case <-gone:
			http.NotFound(w, r)
		default:
			w.Header().Set("Mcp-Session-Id", "one")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer(idOf(r), `{"protocolVersion":"2025-06-18"}`))
		}
	}))
	s, err := Dial(t.Context(), definition.Launch{Transport: definition.HTTP, URL: at}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := rpc.NewPeer(s, &side{seen: make(chan string, 1)})
	why := make(chan error, 1)
	go func() { why <- p.Run() }()
	initialize(t, p)
	close(gone)
	if _, err := p.Call(t.Context(), "tools/list", nil); !errors.Is(err, ErrGone) || errors.Is(err, rpc.ErrUnsure) {
		t.Errorf("%v", err)
	}
	if err := <-why; !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	last := w.requests(http.MethodPost)
	if h := last[len(last)-1].Header; h.Get("Mcp-Session-Id") != "one" || h.Get("Mcp-Protocol-Version") != "2025-06-18" {
		t.Errorf("%v", h)
	}
	if n := len(w.requests(http.MethodDelete)); n != 0 {
		t.Errorf("a session that is gone is ended %d times", n)
	}
	if err := s.Write(t.Context(), rpc.Message{Method: "x"}); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// A response whose connection breaks is asked for again from the last event on.
func TestResume(t *testing.T) {
	var id string
	w, at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPost {
			id = idOf(r)
			_, _ = io.WriteString(w, "id: e1\ndata:\n\n")
			return
		}
		_, _ = io.WriteString(w, "id: e2\ndata: "+answer(id, `{"late":true}`)+"\n\n")
	}))
	p, _ := dial(t, definition.Launch{Transport: definition.HTTP, URL: at}, Options{})
	if got := ask(t, p, "tools/list", `{}`); got != `{"late":true}` {
		t.Errorf("%s", got)
	}
	if gets := w.requests(http.MethodGet); len(gets) != 1 || gets[0].Header.Get("Last-Event-ID") != "e1" {
		t.Errorf("%d times", len(gets))
	}
}

func TestStray(t *testing.T) {
	_, at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: hello\n\ndata: "+answer(idOf(r), `1`)+"\n\n")
	}))
	var stray []string
	p, _ := dial(t, definition.Launch{Transport: definition.HTTP, URL: at}, Options{Stray: func(b []byte) { stray = append(stray, string(b)) }})
	if got := ask(t, p, "x", `{}`); got != `1` || len(stray) != 1 || stray[0] != "hello" {
		t.Errorf("%s, %q", got, stray)
	}
}

func TestEventsFaults(t *testing.T) {
	say := func(events string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, events)
		}
	}
	for name, c := range map[string]struct {
		do   http.HandlerFunc
		want string
	}{
		"another host":   {say("event: endpoint\ndata: http://example.org/x\n\n"), "another host"},
		"another scheme": {say("event: endpoint\ndata: file:///x\n\n"), "another host"},
		"no address":     {say("event: endpoint\ndata: http://%zz\n\n"), "cannot be read"},
		"ends":           {say("data: x\n\n"), "EOF"},
		"a page":         {func(w http.ResponseWriter, r *http.Request) {}, "no events"},
		"404":            {http.NotFound, "404"},
		"401":            {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) }, "sign-in needed"},
	} {
		_, at := serve(t, c.do)
		_, err := Dial(t.Context(), definition.Launch{Transport: definition.SSE, URL: at}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	silent := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	_, at := serve(t, http.HandlerFunc(silent))
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := Dial(ctx, definition.Launch{Transport: definition.SSE, URL: at}, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestHelper(t *testing.T) {
	t.Setenv("OURS", canary)
	dir := t.TempDir()
	for _, c := range []struct{ command, want string }{
		{`printf '{"X-A":"%s"}' "$GIVEN$OURS"`, "given"},
		{`pwd | sed 's/.*/{"X-A":"&"}/'`, dir},
		{`exit 3`, "exit status 3"},
		{`echo ` + canary, "did not print a JSON"},
		{`echo null`, "did not print a JSON"},
		{`echo '{"a":1}'`, "did not print a JSON"},
		{`head -c 100000 /dev/zero`, "more than"},
	} {
		got, err := helper{command: c.command, dir: dir, env: []string{"GIVEN=given", "PATH=/usr/bin:/bin"}}.run(t.Context())
		if err == nil && got["X-A"] != c.want || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canary)) {
			t.Errorf("%s: %v, %v", c.command, got, err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	begun := time.Now()
	if _, err := (helper{command: `sleep 60 & sleep 60`, dir: dir, env: []string{"PATH=/usr/bin:/bin"}}).run(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// The command runs once, and again when its headers are refused.
func TestHelperRunsAgain(t *testing.T) {
	file := t.TempDir() + "/count"
	_, at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Runs") != "2" || r.Header.Get("Mcp-Session-Id") != "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer(idOf(r), `"in"`))
	}))
	l := definition.Launch{Transport: definition.HTTP, URL: at, Helper: `echo >> ` + file + `; printf '{"X-Runs":"%d","Mcp-Session-Id":"x"}' $(wc -l < ` + file + `)`}
	p, _ := dial(t, l, Options{Env: []string{"PATH=/usr/bin:/bin"}})
	for range 3 {
		if got := ask(t, p, "x", `{}`); got != `"in"` {
			t.Errorf("%s", got)
		}
	}
}
