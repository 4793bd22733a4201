package screens

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/ui/typing"
)

// TestQuestionsAreAnswered answers what agents ask without entering their terminals: from the list, and by verbs.
func TestQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "careful")
	asks := func(n int, prompt string) thread.Question {
		t.Helper()
		r.Says(exitcode.Refused, []string{"waits for you"}, "send", name, prompt)
		var q *thread.Question
		e2e.Await(t, "the question", func() bool { q = r.Status(name).State.Question; return q != nil })
		if len(q.Choices) != 3 || r.Status(name).Turn != n {
			t.Fatalf("turn %d, %+v", r.Status(name).Turn, q)
		}
		return *q
	}
	answered := func(n int) {
		t.Helper()
		e2e.Await(t, "the end of the turn", func() bool { return r.Status(name).Turn == n && !r.Status(name).State.Works() })
	}

	// By verbs: nobody can be asked here, so that the question's id or --yes is needed.
	q := asks(0, "run echo first >one.txt")
	if !strings.Contains(q.About, "echo first >one.txt") {
		t.Errorf("it asks about %q", q.About)
	}
	r.Says(exitcode.Refused, []string{q.About, "1. Yes", "--question " + q.ID}, "approve", name)
	r.Says(exitcode.Refused, []string{"asks something else now"}, "approve", name, "--question", "0-"+q.ID)
	r.Says(exitcode.Usage, []string{"it offers 3"}, "answer", name, "7", "--yes")
	if out := r.Ok("why", name); !strings.Contains(out, q.About) {
		t.Errorf("why says %s", out)
	}
	r.Ok("approve", name, "--question", q.ID)
	answered(1)
	if got := r.Read("one.txt"); got != "first\n" {
		t.Errorf("one.txt: %q", got)
	}
	r.Says(exitcode.Refused, []string{"asks nothing"}, "approve", name, "--yes")

	second := asks(1, "run echo second >two.txt")
	r.Says(exitcode.Refused, []string{"asks something else now"}, "deny", name, "--question", q.ID)
	if second.ID == q.ID {
		t.Error("two questions have one id")
	}
	r.Ok("deny", name, "say what it is for", "--yes")
	answered(3) // the turn that was denied, and the reason as a prompt
	if _, err := os.Stat(filepath.Join(r.Project, "two.txt")); err == nil {
		t.Error("what was denied has run")
	}

	// On the screen: the question is on the pane's edge, and a letter approves it.
	asks(3, "run echo third >three.txt")
	s := r.Open(100, 30)
	s.See("echo third >three.txt", "a approve", "x deny")
	time.Sleep(2 * typing.Glance) // a key that comes as the question appears is ignored
	s.Press("a")
	s.See(name[:len(name)-5] + ": Yes")
	answered(4)
	if got := r.Read("three.txt"); got != "third\n" {
		t.Errorf("three.txt: %q", got)
	}
	s.Press("q")
	s.End()
}
