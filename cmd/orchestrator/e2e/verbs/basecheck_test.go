package verbs

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/api"
)

// TestBaseThatDoesNotWork: a tool that should be gone and is still offered is told once, and once a second start shows it,
// later threads of that version keep it, until that is forgotten.
func TestBaseThatDoesNotWork(t *testing.T) {
	r := e2e.NewRig(t)
	// What a person gives the agent comes after what a base does: it leaves out less than it was told to.
	deaf := func(label string) string {
		return r.Demo("-n", label, "--base", "slim", "--", "--leave-out", "questions")
	}
	one, two := deaf("one"), deaf("two")
	r.Turn(one, "say hello")
	told := func() (lines []string) {
		for line := range strings.Lines(r.Ok("events")) {
			if strings.Contains(line, "still there") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	e2e.Await(t, "what is told", func() bool { return len(told()) > 0 })
	r.Turn(two, "say hello")
	e2e.Await(t, "what is kept", func() bool {
		return strings.Contains(r.Ok("context", "base", two), "New threads no longer leave it out")
	})
	later := r.Demo("-n", "later", "--base", "slim")
	r.Turn(later, "say hello")
	if s := r.Status(later); strings.Join(s.Base.Left, " ") != "tips" || !strings.Contains(s.Base.Why, "todos (did not work with demo") {
		t.Errorf("a later thread leaves out %v: %s", s.Base.Left, s.Base.Why)
	}
	if s := r.Status(one); strings.Join(s.Base.Left, " ") != "tips todos" {
		t.Errorf("a running thread leaves out %v", s.Base.Left)
	}
	if said := r.Ok("context", "base", later); !strings.Contains(said, "without todos: write_todos is still there") {
		t.Errorf("context base says\n%s", said)
	}
	infos, err := api.Agents.Do(t.Context(), r.Client(), api.None{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range infos {
		if said := fmt.Sprint(a.Bases); a.Name == "demo" && (len(a.Bases) == 0 || strings.Contains(said, "to-do lists")) {
			t.Errorf("forms promise what does not work: %s", said)
		}
	}
	r.Ok("restart")
	r.Ok("resume", one)
	r.Turn(one, "say hello")
	if s := r.Status(r.Demo("-n", "after", "--base", "slim")); strings.Join(s.Base.Left, " ") != "tips" {
		t.Errorf("after a restart it leaves out %v", s.Base.Left)
	}
	lines := told()
	if len(lines) != 1 || !strings.Contains(lines[0], "context") || !strings.Contains(lines[0], "write_todos is still there. Its base leaves out todos") {
		t.Errorf("told %d times: %q", len(lines), lines)
	}
	if said := r.Ok("context", "base", one, "--forget"); !strings.Contains(said, "leave out todos again") {
		t.Errorf("forgotten: %q", said)
	}
	if s := r.Status(r.Demo("-n", "again", "--base", "slim")); strings.Join(s.Base.Left, " ") != "tips todos" {
		t.Errorf("then it leaves out %v", s.Base.Left)
	}
}
