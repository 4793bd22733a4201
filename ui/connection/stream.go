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
	srv    host.Server
	first  *First // until it is used
	events <-chan thread.Event
	seq    int64
	gen    int
}

// subscribe opens the stream; the list is requested once it is open, so that nothing is missed.
func (s *stream) subscribe(ctx context.Context) tea.Cmd {
	s.gen++
	gen, open := s.gen, openEvents(ctx, s.srv)
	if gen > 1 {
		s.first = nil
	} else if s.first != nil {
		open = s.first.events
	}
	return func() tea.Msg {
		events, err := open()
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
	since, list := s.seq, listThreads(ctx, s.srv)
	if s.first != nil {
		list, s.first = s.first.list, nil
	}
	return func() tea.Msg {
		all, err := list()
		return Listed{all, since, err}
	}
}
