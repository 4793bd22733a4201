package connection

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
	"orchestrator/thread/api"
)

// server counts what it is asked for. It opens a stream of events once it may.
type server struct {
	open           chan struct{}
	fails          error // of the stream
	streams, lists int
}

func (s *server) Stream(ctx context.Context, _, _ string, _ any) (<-chan thread.Event, error) {
	s.streams++
	select {
	case <-s.open:
		return make(chan thread.Event), s.fails
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) Do(_ context.Context, name string, _, _ any) error {
	if name == api.List.Name() {
		s.lists++
	}
	return nil
}

func (*server) Download(context.Context, string, any) (io.ReadCloser, error) { return nil, io.EOF }

// TestFirstIsAskedAhead: what a screen needs first is on its way before it asks, the threads not before the stream of
// events is open, so that no event is missed; what is asked later goes to the server again.
func TestFirstIsAskedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &server{open: make(chan struct{})}
		s := stream{srv: srv, first: Ask(t.Context(), srv)}
		synctest.Wait()
		if srv.streams != 1 || srv.lists != 0 {
			t.Fatalf("before the events are open: %d streams, %d lists", srv.streams, srv.lists)
		}
		close(srv.open)
		synctest.Wait()
		if srv.lists != 1 {
			t.Fatalf("once they are: %d lists", srv.lists)
		}
		if got := s.subscribe(t.Context())().(Subscribed); got.Err != nil || got.Events == nil || srv.streams != 1 {
			t.Errorf("the first stream: %+v, %d asked for", got, srv.streams)
		}
		for want := 1; want <= 2; want++ {
			if got := s.list(t.Context())().(Listed); got.Err != nil || srv.lists != want {
				t.Errorf("list %d: %+v, %d asked for", want, got, srv.lists)
			}
		}
		if s.subscribe(t.Context())(); srv.streams != 2 {
			t.Errorf("%d streams for the second one", srv.streams)
		}
	})
}

// TestFirstFails: a stream that could not be opened is opened again, and the threads are asked for anew with it.
func TestFirstFails(t *testing.T) {
	srv := &server{open: make(chan struct{}), fails: errors.New("gone")}
	close(srv.open)
	s := stream{srv: srv, first: Ask(t.Context(), srv)}
	if got := s.subscribe(t.Context())().(Subscribed); !errors.Is(got.Err, srv.fails) {
		t.Fatalf("the first stream: %+v", got)
	}
	if _, err := s.first.list(); !errors.Is(err, srv.fails) || srv.lists != 0 {
		t.Errorf("the threads: %v, %d asked for", err, srv.lists)
	}
	srv.fails = nil
	if got := s.subscribe(t.Context())().(Subscribed); got.Err != nil {
		t.Errorf("the second stream: %+v", got)
	}
	if got := s.list(t.Context())().(Listed); got.Err != nil || srv.lists != 1 {
		t.Errorf("the threads then: %+v, %d asked for", got, srv.lists)
	}
}
