package verbs

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestNoticesReachTheScreen fills a context: the notices of masking are in the event log with the thread's name, on
// the screen and by the verb, in the program as it is put together.
func TestNoticesReachTheScreen(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("full")
	s := r.Open(120, 30)
	s.See("full")
	words := strings.Repeat("some words that fill the context of this thread ", 480)
	for range 2 {
		r.Turn(name, "say: "+words)
	}
	r.Turn(name, "say: a bit more, "+words[:len(words)*2/3])
	r.Run("send", name, "hello")
	s.Press("!")
	s.See("events", "▒ "+r.Status(name).DisplayName(), "context 5", "done in ")
	s.Press("\x1b")
	s.See("n new")
	s.Press("q")
	s.End()
	if log := r.Ok("events", "--kind", "context"); !strings.Contains(log, "full                     context 5") &&
		!strings.Contains(log, name+"                context 5") {
		t.Errorf("the event log has\n%s", log)
	}
}
