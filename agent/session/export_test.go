package session

import "time"

// SetTakeLimit shortens the wait for an agent that does not react. Before the first Start only.
func (s *Sessions) SetTakeLimit(d time.Duration) { s.takeLimit = d }
