package manager

import (
	"fmt"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// starts bounds how many agents run at once.
type starts struct {
	limit int // 0 for none
	index *index

	mu sync.Mutex // guards n; taken before index.mu
	n  int        // agents being started
}

// take counts an agent that is about to start.
func (s *starts) take() (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.n + s.index.running(); s.limit > 0 && n >= s.limit {
		return nil, thread.Hint(fmt.Errorf("%s already running: %w", plaintext.Count(n, "agent"), thread.ErrLimit),
			"stop one or raise limits.running")
	}
	s.n++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.n--
	}, nil
}
