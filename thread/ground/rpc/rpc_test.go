package rpc_test

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/thread/ground/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait is how long something may take that happens at once.
const wait = 10 * time.Second

// handler answers by function.
type handler struct {
	request func(ctx context.Context, m rpc.Message) (json.RawMessage, error)
	notes   chan rpc.Message
}

func (h handler) Request(ctx context.Context, m rpc.Message) (json.RawMessage, error) {
	return h.request(ctx, m)
}

func (h handler) Notification(m rpc.Message) {
	if h.notes != nil {
		h.notes <- m
	}
}

// lines is a stream over one end of a connection.
func lines(c net.Conn) *rpc.Lines { return rpc.NewLines(c, c, c, nil) }

// run runs a peer until the test ends and returns what its end is told by.
func run(t *testing.T, s rpc.Stream, h handler) (*rpc.Peer, <-chan error) {
	t.Helper()
	p := rpc.NewPeer(s, h)
	ended := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- p.Run()
	}()
	t.Cleanup(func() {
		_ = p.Close()
		select {
		case <-done:
		case <-time.After(wait):
			t.Error("Run does not return")
		}
	})
	return p, ended
}

// receive returns what comes from a channel soon.
func receive[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(wait):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}
