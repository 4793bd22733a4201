package staging

import (
	"time"

	"orchestrator/thread"
)

// Draw makes a store use the tokens of a test.
func (s *Store) Draw(draw func() thread.Token) { s.draw = func(int) thread.Token { return draw() } }

// Now makes a store use the clock of a test.
func (s *Store) Now(now func() time.Time) { s.now = now }
