package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/thread"
)

// raw sends bytes and returns the status of the first answer, 0 when the connection just ends.
func raw(t *testing.T, addr, request string) (status int, header http.Header, body string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, nil, ""
	}
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b)
}

// guarded is a world whose upstream counts what reaches it.
func guarded(t *testing.T) (w *world, path, host string, hits *atomic.Int64) {
	hits = &atomic.Int64{}
	w = open(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		hits.Add(1)
	}), nil)
	host = w.Addr()
	return w, strings.TrimPrefix(w.base, "http://"+host), host, hits
}

// TestEveryWayNeedsTheSecret is T1 and T7.
func TestEveryWayNeedsTheSecret(t *testing.T) {
	w, path, host, hits := guarded(t)
	if len(strings.TrimPrefix(path, "/t/")) < 32 {
		t.Errorf("the secret is short: %d", len(path)-3)
	}
	wrong := "/t/" + strings.Repeat("0", len(path)-3)
	gone, _, err := w.Route("gone", thread.RouteSpec{Agent: "x", Upstreams: map[string]string{"": "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	w.Unroute("gone")
	for _, base := range []string{
		"", "/", "/t", "/t/", "/t//", "/t/t1", "/t1", wrong,
		path[:len(path)-1], path + "0", strings.ToUpper(path), "/T" + path[2:],
		"/x" + path,
		"/t/%2e%2e" + path, strings.TrimPrefix(gone, "http://"+host), "/t/?secret=" + path[3:], "//t/" + path[3:], "*",
	} {
		for _, rest := range []string{"", "/v1/messages", "/_hook/Stop", "/@side/x"} {
			for _, method := range []string{"GET", "POST", "OPTIONS"} {
				target := base + rest
				if target == "" || base == "*" && rest != "" || base == "" && strings.HasPrefix(rest, "/@") {
					continue
				}
				status, h, body := raw(t, host,
					fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", method, target, host))
				if status != 401 && status != 400 && !(base == "*" && method == "OPTIONS") || body != "" && status == 401 ||
					h.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s: %d %q", method, target, status, body)
				}
			}
		}
	}
	if n := hits.Load(); n != 0 || len(w.obs.log) != 0 {
		t.Errorf("%d requests reached the upstream, %d the observer", n, len(w.obs.log))
	}
}

// TestForeignPagesAreRefused is T2, T3, T4 and T5: with the right secret, too.
func TestForeignPagesAreRefused(t *testing.T) {
	w, path, host, hits := guarded(t)
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	ok := "POST " + path + "/v1/x HTTP/1.1\r\nHost: %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n"
	for name, tc := range map[string]struct {
		request string
		want    []int
	}{
		"ours":               {fmt.Sprintf(ok, host, ""), []int{200}},
		"localhost":          {fmt.Sprintf(ok, "localhost:"+port, ""), []int{200}},
		"upper case":         {fmt.Sprintf(ok, "LOCALHOST:"+port, ""), []int{200}},
		"v6":                 {fmt.Sprintf(ok, "[::1]:"+port, ""), []int{200}},
		"evil host":          {fmt.Sprintf(ok, "evil.com", ""), []int{421}},
		"evil host and port": {fmt.Sprintf(ok, "evil.com:"+port, ""), []int{421}},
		"rebinding":          {fmt.Sprintf(ok, "127.0.0.1.nip.io:"+port, ""), []int{421}},
		"root dot":           {fmt.Sprintf(ok, "localhost.:"+port, ""), []int{421}},
		"any address":        {fmt.Sprintf(ok, "0.0.0.0:"+port, ""), []int{421}},
		"other port":         {fmt.Sprintf(ok, "127.0.0.1:1", ""), []int{421}},
		"no port":            {fmt.Sprintf(ok, "127.0.0.1", ""), []int{421}},
		"empty host":         {fmt.Sprintf(ok, "", ""), []int{421, 400}},
		"two hosts":          {fmt.Sprintf(ok, host+"\r\nHost: evil.com", ""), []int{400}},
		"absolute form":      {strings.Replace(fmt.Sprintf(ok, host, ""), "POST ", "POST http://"+host, 1), []int{421}},
		"absolute, evil":     {strings.Replace(fmt.Sprintf(ok, host, ""), "POST ", "POST http://evil.com", 1), []int{421}},
		"origin null":        {fmt.Sprintf(ok, host, "Origin: null\r\n"), []int{403}},
		"origin evil":        {fmt.Sprintf(ok, host, "Origin: http://localhost.evil.com\r\n"), []int{403}},
		"origin other port":  {fmt.Sprintf(ok, host, "Origin: http://127.0.0.1:1\r\n"), []int{403}},
		"origin ours":        {fmt.Sprintf(ok, host, "Origin: http://"+host+"\r\n"), []int{403}},
		"origin empty":       {fmt.Sprintf(ok, host, "Origin:\r\n"), []int{403}},
		"preflight": {strings.Replace(fmt.Sprintf(ok, host,
			"Origin: http://evil.com\r\nAccess-Control-Request-Method: POST\r\n"), "POST", "OPTIONS", 1), []int{403}},
		"websocket, origin": {fmt.Sprintf("GET "+path+"/v1/responses HTTP/1.1\r\nHost: %s\r\nOrigin: http://evil.com\r\n"+
			"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", host), []int{403}},
		"websocket": {fmt.Sprintf("GET "+path+"/v1/responses HTTP/1.1\r\nHost: %s\r\n"+
			"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", host), []int{426}},
		"websocket, secret": {fmt.Sprintf("GET /t/0/v1/responses HTTP/1.1\r\nHost: %s\r\n"+
			"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", host), []int{401}},
		"connect": {fmt.Sprintf("CONNECT evil.com:443 HTTP/1.1\r\nHost: %s\r\n\r\n", host), []int{421, 405}},
	} {
		t.Run(name, func(t *testing.T) {
			before := hits.Load()
			status, h, body := raw(t, host, tc.request)
			found := false
			for _, want := range tc.want {
				found = found || status == want
			}
			if !found || len(h["Access-Control-Allow-Origin"]) > 0 {
				t.Errorf("got %d %q %v, want %v", status, body, h, tc.want)
			}
			if n := hits.Load() - before; (n > 0) != (status == 200) {
				t.Errorf("%d requests reached the upstream", n)
			}
		})
	}
	_ = w
}

// TestNoPathLeavesTheUpstream sends targets past every client's own cleaning.
func TestNoPathLeavesTheUpstream(t *testing.T) {
	rec := &recorder{}
	up := serve(t, rec.ServeHTTP)
	w := open(t, up, nil)
	base, _, err := w.Route("t2", thread.RouteSpec{Agent: "x",
		Upstreams: map[string]string{"": up + "/tenant/v1", "side": up + "/side/v2/"}})
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(base, "http://"+w.Addr())
	for _, rest := range []string{
		"/..", "/../", "/../admin", "/a/../../../admin", "/./../admin", "//../admin", "/a//../../x", "/%2e%2e/admin",
		"/%2E./admin", "/.%2e/admin",
		"/%252e%252e/admin", "/%25252e%25252e/a", "/%2525252525252e%2525252525252e/a", "/..%2fadmin", "/..%2Fadmin",
		"/a%2f..%2f..%2fx", "/%2e%2e%2fadmin", "/..%252fadmin",
		"/..\\admin", "/a\\..\\..\\x", "/..%5cadmin", "/%2e%2e%5Cadmin", "/..;/admin", "/..;a=b/admin", "/%2e%2e%3b/admin",
		"/..%00/admin", "/..%20/admin",
		"/@side/../admin", "/@side/%2e%2e/admin", "/@side/..%2f..%2fadmin", "/@../admin/..", "/@side/a/..",
		"/v1/messages/..?x=/",
	} {
		target := path + rest
		if !strings.HasPrefix(rest, "/") {
			target = path + "/" + rest
		}
		status, _, body := raw(t, w.Addr(),
			fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", target, w.Addr()))
		if status != 400 && status != 404 {
			t.Errorf("%s: %d %s", rest, status, body)
		}
	}
	if len(rec.got) > 0 {
		t.Errorf("%s came upstream", rec.got[0].uri)
	}
	for rest, want := range map[string]string{
		"/models/..x": "/tenant/v1/models/..x", "/a..": "/tenant/v1/a..", "/%2e": "/tenant/v1/%2e", "//x": "/tenant/v1//x",
		"/x?a=/../b":   "/tenant/v1/x?a=/../b",
		"/@side/a%2fb": "/side/v2/a%2fb", "/100%": "/tenant/v1/100%",
	} {
		status, _, body := raw(t, w.Addr(),
			fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", path+rest, w.Addr()))
		if rest == "/100%" && status == 400 {
			continue // no target at all
		}
		if got := rec.last(t).uri; status != 200 || got != want {
			t.Errorf("%s: %d %s, came as %s", rest, status, body, got)
		}
	}
}

// TestSmuggling is T28: whatever is sent, upstream sees one whole request or none.
func TestSmuggling(t *testing.T) {
	w, path, host, hits := guarded(t)
	head := "POST " + path + "/v1/x HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n"
	inner := "POST " + path + "/v1/y HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 0\r\n\r\n"
	for name, tc := range map[string]struct {
		request string
		want    map[int]int64 // status → requests upstream
	}{
		"length and chunks": {head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
			map[int]int64{200: 1, 400: 0}},
		"two lengths": {head + "Content-Length: 0\r\nContent-Length: 5\r\n\r\n" + inner, map[int]int64{400: 0}},
		"two codings": {head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
			map[int]int64{400: 0, 501: 0}},
		"bare LF chunk":      {head + "Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n", map[int]int64{400: 0}},
		"bad chunk":          {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", map[int]int64{400: 0}},
		"negative length":    {head + "Content-Length: -1\r\n\r\n", map[int]int64{400: 0}},
		"space before colon": {head + "Content-Length : 5\r\n\r\nhello", map[int]int64{400: 0}},
		"short body": {strings.Replace(head, "close", "close", 1) + "Content-Length: 0\r\n\r\n",
			map[int]int64{200: 1}},
		"connection: key": {strings.Replace(head, "Connection: close", "Connection: x-api-key", 1) +
			"X-Api-Key: k\r\nContent-Length: 0\r\n\r\n", map[int]int64{400: 0}},
		"long header":     {head + "X: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", map[int]int64{431: 0, 0: 0}},
		"line folding":    {head + "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", map[int]int64{400: 0, 200: 1}},
		"NUL in a header": {head + "X: a\x00b\r\n\r\n", map[int]int64{400: 0}},
		"garbage":         {"\x16\x03\x01\x02\x00\x01\r\n\r\n", map[int]int64{400: 0, 0: 0}},
	} {
		t.Run(name, func(t *testing.T) {
			before := hits.Load()
			c, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(patience))
			go func() { _, _ = io.WriteString(c, tc.request) }() // may be refused half way
			status := 0
			if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
				status = resp.StatusCode
				resp.Body.Close()
			}
			n, ok := tc.want[status]
			if !ok || hits.Load()-before != n {
				t.Errorf("got %d with %d requests upstream, want one of %v", status, hits.Load()-before, tc.want)
			}
		})
	}
	_ = w
}

// TestSlowSendersAreCut is R15 in small: half headers and half bodies end at their limits.
func TestSlowSendersAreCut(t *testing.T) {
	rec := &recorder{}
	w := open(t, serve(t, rec.ServeHTTP), func(o *gateway.Options) {
		o.HeaderLimit, o.BodyLimit = 50*time.Millisecond, 50*time.Millisecond
	})
	path := strings.TrimPrefix(w.base, "http://"+w.Addr())
	for name, tc := range map[string]struct {
		request string
		want    map[int]bool
	}{
		"half a header": {"POST " + path + "/v1/x HTTP/1.1\r\nHost: " + w.Addr() + "\r\n", map[int]bool{0: true, 408: true}},
		"half a body": {"POST " + path + "/v1/messages HTTP/1.1\r\nHost: " + w.Addr() +
			"\r\nContent-Length: 100\r\n\r\nhalf", map[int]bool{0: true, 408: true}},
		"half a chunk": {"POST " + path + "/v1/messages HTTP/1.1\r\nHost: " + w.Addr() +
			"\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf", map[int]bool{0: true, 408: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if status, _, _ := raw(t, w.Addr(), tc.request); !tc.want[status] {
				t.Errorf("got %d", status)
			}
		})
	}
	if len(rec.got) != 0 {
		t.Errorf("%d requests came upstream", len(rec.got))
	}
}

// TestLimitsEndWithTheBody has an answer that takes longer than a body may take.
func TestLimitsEndWithTheBody(t *testing.T) {
	events := answerEvents("slow")
	for limit := 50 * time.Millisecond; ; limit *= 4 {
		w := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, events[0])
			_ = http.NewResponseController(w).Flush()
			<-time.After(2 * limit)
			_, _ = io.WriteString(w, strings.Join(events[1:], ""))
		}), func(o *gateway.Options) { o.BodyLimit = limit })
		resp, body, err := post(t, w.base+"/v1/messages", request("x"))
		if resp != nil && resp.StatusCode == http.StatusRequestTimeout && limit < patience/8 {
			continue // the machine is busy: the body itself took too long
		}
		if err != nil || body != strings.Join(events, "") {
			t.Errorf("%v: %s", err, body)
		}
		return
	}
}

// TestSecretsStayOutOfWhatIsKept is T23 for the gateway: canaries in every place of a request and
// an answer's error show up in no exchange's own words and in no log.
func TestSecretsStayOutOfWhatIsKept(t *testing.T) {
	canaries := []string{"sk-ant-canary-0001", "canary-bearer-0002", "canary-goog-0003", "canary-cookie-0004",
		"canary-query-0005", "canary-proxy-0006"}
	answers := map[string]http.HandlerFunc{
		"quoted in an error": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"bad: %s"}}`,
				strings.Join(canaries, " "))
		},
		"quoted in a stream": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"type\":\"error\",\"error\":{\"type\":\"x\",\"message\":\"%s\"}}\n\n",
				strings.Join(canaries, " "))
		},
		"cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			w := open(t, serve(t, answer), nil)
			_, _, _ = post(t, w.base+"/v1/messages?key="+canaries[4], request("x"),
				"X-Api-Key", canaries[0], "Authorization", "Bearer "+canaries[1], "X-Goog-Api-Key", canaries[2], "Cookie",
				canaries[3], "X-Auth-Proxy", canaries[5])
			e := w.obs.wait(t, 1)[0]
			kept := fmt.Sprintf("%+v", e) + w.logs.String()
			for _, c := range append(canaries, w.base[len(w.base)-64:]) {
				if strings.Contains(kept, c) {
					t.Errorf("%s is kept: %s", c, kept)
				}
			}
			if e.Err == "" {
				t.Error("no error is told")
			}
		})
	}
	w := open(t, "http://user:canary-pass@127.0.0.1:1/", nil)
	_, body, err := post(t, w.base+"/v1/messages?key="+canaries[4], request("x"), "X-Api-Key", canaries[0])
	if err != nil {
		t.Fatal(err)
	}
	e := w.obs.wait(t, 1)[0]
	if kept := fmt.Sprintf("%+v", e) + w.logs.String() + body; strings.Contains(kept, "canary") {
		t.Errorf("kept: %s", kept)
	}
}
