package masks

import "orchestrator/thread"

// Draw makes a store use the tokens of a test.
func (s *Store) Draw(draw func() thread.Token) { s.shelf.tokens.draw = draw }

// Loaded returns how many sets are in memory.
func (s *Store) Loaded() int { return len(s.loaded()) }

// Keep is how many sets stay in memory that nothing uses.
const Keep = keep
