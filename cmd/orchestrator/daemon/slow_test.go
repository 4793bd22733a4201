package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
)

// TestBodiesThatDoNotCome: whoever does not send what was announced is answered and cut off, and nobody else waits.
func TestBodiesThatDoNotCome(t *testing.T) {
	s := bare(func(r *routes) {
		r.bodyTime, r.silence = 50*time.Millisecond, 50*time.Millisecond
		answer(r, api.Status, nil, func(context.Context, api.Ref) (thread.Status, error) { return thread.Status{}, nil })
		stream(r, api.Speech, nil, func(context.Context, api.Ref) (<-chan thread.Event, error) { return nil, nil })
		download(r, api.Retrieve, nil, func(context.Context, api.RetrieveRequest) (thread.StagedData, error) {
			return parcel{}, nil
		})
		upload(r, api.Stage, nil, func(_ context.Context, _ thread.StageRequest, in io.Reader) (thread.Staged, error) {
			_, err := io.Copy(io.Discard, in)
			return thread.Staged{}, err
		})
	})
	cl, socket := serveAt(t, s)
	const query = "?request=%7B%7D"
	heads := []string{
		"POST /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
		"POST /v1/speech HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"POST /v1/retrieve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff",
		"PUT /v1/stage" + query + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ndata",
	}
	var all []net.Conn
	for range 25 {
		for _, head := range heads {
			c, err := net.Dial("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, head); err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
	}
	if _, err := api.Status.Do(t.Context(), cl, api.Ref{}); err != nil {
		t.Errorf("beside them: %v", err)
	}
	for i, c := range all {
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("answered %s", res.Status)
		}
		if _, err := io.Copy(io.Discard, in); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the connection of %q is left open", heads[i%len(heads)])
		}
	}
}

// TestSlowAnswerIsWaitedFor: the time for a request ends with the request.
func TestSlowAnswerIsWaitedFor(t *testing.T) {
	answered := make(chan struct{})
	cl, _ := serve(t, bare(func(r *routes) {
		r.bodyTime = 100 * time.Millisecond
		answer(r, api.Status, nil, func(ctx context.Context, _ api.Ref) (thread.Status, error) {
			select {
			case <-ctx.Done():
				return thread.Status{}, fmt.Errorf("the client is said to be gone: %w", ctx.Err())
			case <-answered:
				return thread.Status{}, nil
			}
		})
	}))
	time.AfterFunc(300*time.Millisecond, func() { close(answered) })
	if _, err := api.Status.Do(t.Context(), cl, api.Ref{}); err != nil {
		t.Error(err)
	}
}
