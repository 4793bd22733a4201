package screens

import (
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestReadAndCopy reads a terminal by keys: search, select, copy, and what is copied reaches the person's terminal, also
// the last answer and what stands in a turn.
func TestReadAndCopy(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("read me")
	r.Ok("send", name, "run seq 1 300")
	s := r.Open(100, 30)
	s.See("read me", "n new")
	copied := func(want string) {
		t.Helper()
		deadline := time.Now().Add(e2e.Patience)
		for ; ; time.Sleep(10 * time.Millisecond) {
			s.Mu.Lock()
			got := s.Clipboard
			s.Mu.Unlock()
			if strings.Contains(got, want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("on the clipboard is %q, not %q:\n%s", got, want, s.Text())
			}
		}
	}
	s.Press("[")
	s.See("line ", " of ", "q leave")
	s.Press("?")
	s.See("? text")
	s.Press("seq 1")
	s.See("· match ")
	s.Press("\r")
	s.See("q leave")
	s.Press("v")
	s.See("· text")
	s.Press("e")
	time.Sleep(pace) // keys that come at once are pasted text
	s.Press("y")
	copied("seq")
	s.See("1 line copied, 3 B")
	s.Press("q")
	s.See("n new")
	s.Press("Y")
	s.See("answer of turn 1 copied")
}
