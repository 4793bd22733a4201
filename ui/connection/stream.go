package connection

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

const (
	// RetryAfter is the delay between attempts to reconnect.
	RetryAfter = time.Second
	// OfferAfter is how long another client that has restarted the server gets to resume its agents.
	OfferAfter = 3 * time.Second
	// Moment is how long to wait silently for the first list.
	Moment = 300 * time.Millisecond
	// AskAfter is the number of attempts after which to ask whether to start a server.
	AskAfter = 2
	// batch is the maximum number of events to handle at once.
	batch = 512
)

// Server is what the connection needs from the server.
type Server interface {
	List(context.Context) ([]thread.Status, error)
	// Events returns a stream of events from now on; it is closed with the context.
	Events(context.Context) (<-chan thread.Event, error)
}

// Messages of the stream. They carry its generation: late messages of an old stream are dropped.
type (
	// Subscribed starts a stream of events.
	Subscribed struct {
		Gen    int
		Events <-chan thread.Event
		Err    error
	}
	// Happened has the events since the last one; Over is set when the stream has ended.
	Happened struct {
		Gen    int
		Events []thread.Event
		Over   bool
	}
	// Listed has all threads; Since is the newest event at the time of the request.
	Listed struct {
		Threads []thread.Status
		Since   int64
		Err     error
	}
	// Retry reconnects.
	Retry struct{ Gen int }
	// late means that the first list should have arrived.
	late struct{}
)

// stream is the stream of events.
type stream struct {
	srv    Server
	events <-chan thread.Event
	seq    int64
	gen    int
}

// subscribe opens the stream; the list is requested once it is open, so that nothing is missed.
func (s *stream) subscribe(ctx context.Context) tea.Cmd {
	s.gen++
	gen, srv := s.gen, s.srv
	return func() tea.Msg {
		events, err := srv.Events(ctx)
		return Subscribed{gen, events, err}
	}
}

// next waits for events and returns all that are available.
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
