package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
)

// TestRequestsThatReadInTwoWays: none of them, and nothing behind them, reaches an upstream.
func TestRequestsThatReadInTwoWays(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		streamAnswer(w, "x")
	}), func(*gateway.Options) {})
	u, err := url.Parse(w.base)
	if err != nil {
		t.Fatal(err)
	}
	behind := "POST " + u.Path + "/v1/messages HTTP/1.1\r\nHost: " + u.Host + "\r\nContent-Length: 2\r\n\r\n{}"
	head := "POST " + u.Path + "/v1/messages HTTP/1.1\r\nHost: " + u.Host + "\r\n"
	for name, text := range map[string]string{
		"both lengths": head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + behind,
		"two lengths":  head + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" + behind,
		"a fold":       head + "X: y\r\n Content-Length: 2\r\n\r\n" + behind,
		"another place": "POST http://" + u.Host + u.Path + "/v1/messages HTTP/1.1\r\nHost: " + u.Host +
			"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"another host": "POST " + u.Path + "/v1/messages HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"two hosts":    head + "Host: evil.example\r\nContent-Length: 0\r\n\r\n",
		"no host":      "POST " + u.Path + "/v1/messages HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
	} {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%s: %v, %v", name, res, err)
			continue
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if res, err := http.ReadResponse(in, nil); err == nil {
			t.Errorf("%s: what was behind it was answered %s", name, res.Status)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests reached the upstream", n)
	}
}

// TestConnectionsThatAreLeft: 3,000 connections that have sent nothing, or a half head or body, keep no request waiting.
func TestConnectionsThatAreLeft(t *testing.T) {
	w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, "x") }), func(*gateway.Options) {})
	u, err := url.Parse(w.base)
	if err != nil {
		t.Fatal(err)
	}
	head := "POST " + u.Path + "/v1/messages HTTP/1.1\r\nHost: " + u.Host + "\r\n"
	parts := []string{"", "POST /", head, head + "Content-Length: 1000\r\n\r\n{", head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{"}
	for n := range 3000 {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			if strings.Contains(err.Error(), "too many open files") {
				t.Skipf("SKIPPED: it needs 6,000 descriptors: %v", err)
			}
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, parts[n%len(parts)]) // it may be cut off by a later one
		if n%500 == 499 {
			begun := time.Now()
			resp, _, err := post(t, w.base+"/v1/messages", request("hello"))
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("beside %d: %v, %v", n+1, resp, err)
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("beside %d it took %s", n+1, took)
			}
		}
	}
}
