package daemon

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
)

// TestOneReaderOfTheSocket: what could be read in two ways is answered 400, and what is behind it is no request.
func TestOneReaderOfTheSocket(t *testing.T) {
	renamed := 0
	_, socket := serveAt(t, bare(func(r *routes) {
		answer(r, api.Status, nil, func(context.Context, api.Ref) (thread.Status, error) { return thread.Status{}, nil })
		answer(r, api.Rename, nil, func(context.Context, api.RenameRequest) (thread.Status, error) {
			renamed++
			return thread.Status{}, nil
		})
	}))
	const behind = "POST /v1/rename HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
	for name, text := range map[string]string{
		"both lengths":  "POST /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + behind,
		"two lengths":   "POST /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}" + behind,
		"a folded line": "POST /v1/status HTTP/1.1\r\nHost: x\r\nX: y\r\n Content-Length: 2\r\n\r\n" + behind,
	} {
		c, err := net.Dial("unix", socket)
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
		if err != nil || res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v, %v", name, res, err)
			continue
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if res, err := http.ReadResponse(in, nil); err == nil {
			t.Errorf("%s: what was behind it was answered %s", name, res.Status)
		}
	}
	if renamed > 0 {
		t.Errorf("%d requests got through behind others", renamed)
	}
}

// TestManyCallersThatSayNothing: 3,000 connections that were left, with a part of a request or none, keep no one out.
func TestManyCallersThatSayNothing(t *testing.T) {
	cl, socket := serveAt(t, bare(func(r *routes) {
		answer(r, api.Status, nil, func(context.Context, api.Ref) (thread.Status, error) { return thread.Status{}, nil })
	}))
	head := "POST /v1/status HTTP/1.1\r\nHost: x\r\n"
	parts := []string{"", head, head + "Content-Length: 10000000\r\n\r\n" + strings.Repeat(" ", 4<<10)}
	for n := range 3000 {
		c, err := net.Dial("unix", socket)
		if err != nil {
			if strings.Contains(err.Error(), "too many open files") {
				t.Skipf("SKIPPED: it needs 6,000 descriptors: %v", err)
			}
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, parts[n%len(parts)]) // it may be cut off by a later one
		if n%500 == 499 {
			if _, err := api.Status.Do(t.Context(), cl, api.Ref{}); err != nil {
				t.Fatalf("beside %d: %v", n+1, err)
			}
		}
	}
}

// TestLargeBodiesAtOnce: a few large requests are read at a time; agents that leave theirs half sent take none of the
// person's places.
func TestLargeBodiesAtOnce(t *testing.T) {
	s := bare(func(r *routes) {
		r.bodyTime = 20 * time.Second
		for range mostLarge {
			r.agentsLarge <- struct{}{}
		}
		answer(r, api.Rename, nil, func(context.Context, api.RenameRequest) (thread.Status, error) { return thread.Status{}, nil })
	})
	cl, _ := serveAt(t, s)
	large := api.RenameRequest{Name: strings.Repeat("x", 1<<20)}
	for range mostLarge + 1 {
		if _, err := api.Rename.Do(t.Context(), cl, large); err != nil {
			t.Fatalf("the person's: %v", err)
		}
	}
}
