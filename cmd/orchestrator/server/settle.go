package server

import (
	"context"
	"log/slog"
	"sync"

	"orchestrator/thread/work"
)

// settler has what came of executions written down by themselves, one after the other and in nobody's way. What it has not
// come to when the server ends, the next one does.
type settler struct {
	settle func(context.Context, work.Execution) error
	// all does the same for what earlier servers have left.
	all func(context.Context) error
	log *slog.Logger

	mu    sync.Mutex // guards ended
	ended []work.Execution
	more  chan struct{}
}

// mostUnsettled is how many executions may wait. Of more, the next start writes down what came of them.
const mostUnsettled = 1000

func newSettler(log *slog.Logger) *settler { return &settler{log: log, more: make(chan struct{}, 1)} }

// put takes an execution that has ended. It does not block.
func (s *settler) put(x work.Execution) {
	s.mu.Lock()
	if len(s.ended) < mostUnsettled {
		s.ended = append(s.ended, x)
	}
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// run works until the server stops.
func (s *settler) run(ctx context.Context) error {
	if s.settle == nil {
		return nil
	}
	if err := s.all(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("write down what came of executions of an earlier server", "err", err)
	}
	for {
		s.mu.Lock()
		list := s.ended
		s.ended = nil
		s.mu.Unlock()
		for _, x := range list {
			if err := s.settle(ctx, x); err != nil && ctx.Err() == nil {
				s.log.Warn("write down what came of an execution", "execution", x.Name, "err", err)
			}
			if ctx.Err() != nil {
				return nil
			}
		}
		select {
		case <-s.more:
		case <-ctx.Done():
			return nil
		}
	}
}
