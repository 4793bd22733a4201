package staging

import (
	"time"

	"orchestrator/thread"
)

// Draw has a store give out the tokens of a test.
func (s *Store) Draw(draw func() thread.Token) { s.draw = draw }

// Now gives a store the clock of a test.
func (s *Store) Now(now func() time.Time) { s.now = now }
