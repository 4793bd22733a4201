package connection

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

const (
	// RetryAfter is how long after the server was lost it is tried again.
	RetryAfter = time.Second
	// Moment is how long the first list may take without a word about it.
	Moment = 300 * time.Millisecond
	// AskAfter is after how many tries the person is asked whether to start a server.
	AskAfter = 2
	// batch is how many events are taken at once.
	batch = 512
)

// Server is what the connection needs of the server.
type Server interface {
	List(context.Context) ([]thread.Status, error)
	// Events sends what happens from the call on; it is closed with the context.
	Events(context.Context) (<-chan thread.Event, error)
}

// The messages of the stream. They carry its generation: what is late for another is dropped.
type (
	// Subscribed begins a stream of events.
	Subscribed struct {
		Gen    int
		Events <-chan thread.Event
		Err    error
	}
	// Happened is what came since the last one; Over is set when the stream ended.
	Happened struct {
		Gen    int
		Events []thread.Event
		Over   bool
	}
	// Listed is all threads; Since is the newest event that was known when they were asked for.
	Listed struct {
		Threads []thread.Status
		Since   int64
		Err     error
	}
	// Retry connects again.
	Retry struct{ Gen int }
	// late says that the first list should have come.
	late struct{}
)

// stream is where events come from.
type stream struct {
	srv    Server
	events <-chan thread.Event
	seq    int64
	gen    int
}

// subscribe begins to listen; the list is asked for once the stream is there, so nothing is missed.
func (s *stream) subscribe(ctx context.Context) tea.Cmd {
	s.gen++
	gen, srv := s.gen, s.srv
	return func() tea.Msg {
		events, err := srv.Events(ctx)
		return Subscribed{gen, events, err}
	}
}

// next waits for events and takes what else is there.
func (s *stream) next() tea.Cmd {
	gen, events := s.gen, s.events
	return func() tea.Msg {
		e, ok := <-events
		if !ok {
			return Happened{Gen: gen, Over: true}
		}
		got := []thread.Event{e}
		for len(got) < batch {
			select {
			case e, ok := <-events:
				if !ok {
					return Happened{Gen: gen, Events: got, Over: true}
				}
				got = append(got, e)
				continue
			default:
			}
			break
		}
		return Happened{Gen: gen, Events: got}
	}
}

func (s *stream) list(ctx context.Context) tea.Cmd {
	since, srv := s.seq, s.srv
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, host.Quick)
		defer cancel()
		all, err := srv.List(ctx)
		return Listed{all, since, err}
	}
}
