package e2e

import (
	"orchestrator/cmd/orchestrator/exitcode"
)

// Leave ends the screen as a person does, from the threads.
func (s *Screen) Leave() {
	s.T.Helper()
	s.Press("q")
	if code := s.End(); code != exitcode.OK {
		s.T.Fatalf("the program ended with %d:\n%s", code, s.Text())
	}
}
