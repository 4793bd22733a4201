package verbs

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestTypingAtTheScreen types text where keys are commands, in a real terminal: at once, in two parts, and key by
// key. Nothing is merged, finished, archived, deleted, stopped or sent.
func TestTypingAtTheScreen(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	parent := r.Demo("parent")
	r.Turn(parent, "hello")
	fork := e2e.Get[thread.Status](r, "fork", "try it", "-t", parent)
	r.Turn(fork.Name, "write made.txt: by the fork")
	head := r.Git("rev-parse", "HEAD")
	turns := map[string]int{parent: 1, fork.Name: r.Status(fork.Name).Turn}
	s := r.Open(100, 30)
	calm := func() {
		for range 4 {
			s.Press("\x11") // out of whatever has the keys, and never a part of what comes next
			time.Sleep(20 * time.Millisecond)
		}
	}
	check := func(typed string) {
		t.Helper()
		for _, name := range []string{parent, fork.Name} {
			st := r.Status(name)
			if !st.Archived.IsZero() || !st.Deleted.IsZero() || st.Outcome.Kind != thread.OutcomeNone || st.Execution == nil || st.Turn != turns[name] {
				t.Fatalf("after %q: %s is at turn %d, archived %v, deleted %v, outcome %q, running %v", typed,
					name, st.Turn, !st.Archived.IsZero(), !st.Deleted.IsZero(), st.Outcome.Kind, st.Execution != nil)
			}
		}
		if now := r.Git("rev-parse", "HEAD"); now != head {
			t.Fatalf("after %q HEAD is %s", typed, now)
		}
	}
	for _, place := range []string{"", "\t", "\t\t", "\t\t\t"} { // the list, timeline, context, diff
		for how, enter := range map[string]func(string){
			"at once": s.Press,
			"in two":  func(text string) { s.Press(text[:1]); time.Sleep(30 * time.Millisecond); s.Press(text[1:]) },
			"slowly": func(text string) {
				for _, c := range text {
					s.Press(string(c))
					time.Sleep(30 * time.Millisecond)
				}
			},
		} {
			s.See("try it", "q quit") // the list is there
			for _, line := range []string{"please fix it\r", "Do it, stop asking\r", "merge\r", "x it out\r", "e\t\r"} {
				for range place {
					s.Press("\t")
					time.Sleep(20 * time.Millisecond)
				}
				s.Press("j") // the fork
				time.Sleep(20 * time.Millisecond)
				enter(line)
				time.Sleep(100 * time.Millisecond)
				calm()
			}
			check(how)
		}
	}
	s.Leave()
}

// TestRandomKeysInATerminal presses keys at random in a real terminal: text, returns and tabs, some at once.
func TestRandomKeysInATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it types for ten seconds; without it, it runs")
	}
	t.Parallel()
	r := e2e.NewRig(t)
	parent := r.Demo("parent")
	fork := e2e.Get[thread.Status](r, "fork", "try it", "-t", parent)
	r.Turn(fork.Name, "write made.txt: by the fork")
	head := r.Git("rev-parse", "HEAD")
	chance := rand.New(rand.NewPCG(1, 8))
	const keys = "abcdefghijklmnoprstuvwxyzABCDEGHIJKLMNOPQSTUVWXYZ0123456789    .,;:!?'/\\-_\t\b" // no q, which leaves
	s := r.Open(100, 30)
	s.See("try it")
	var typed strings.Builder
	for typed.Len() < 600 {
		text := string(keys[chance.IntN(len(keys))])
		switch chance.IntN(12) {
		case 0:
			for range chance.IntN(30) {
				text += string(keys[chance.IntN(len(keys))])
			}
			text += "\r"
		case 1:
			text = "\x11" // the person comes back from wherever that led
		}
		typed.WriteString(text)
		s.Press(text)
		time.Sleep(15 * time.Millisecond)
	}
	for _, name := range []string{parent, fork.Name} {
		if st := r.Status(name); !st.Archived.IsZero() || !st.Deleted.IsZero() || st.Outcome.Kind != thread.OutcomeNone || st.Execution == nil {
			t.Errorf("%s: archived %v, deleted %v, outcome %q, running %v, after %q", name, !st.Archived.IsZero(), !st.Deleted.IsZero(), st.Outcome.Kind, st.Execution != nil, typed.String())
		}
	}
	if now := r.Git("rev-parse", "HEAD"); now != head {
		t.Errorf("HEAD is %s after %q", now, typed.String())
	}
}

// TestDiffOfTwoTurns compares two turns by their numbers.
func TestDiffOfTwoTurns(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("diffs")
	r.Turn(name, "write one.txt: first")
	r.Turn(name, "write two.txt: second")
	if out := r.Ok("checkpoint", "diff", name, "1", "2"); !strings.Contains(out, "two.txt") || strings.Contains(out, "one.txt") {
		t.Errorf("turn 1 to 2: %s", out)
	}
	if out := r.Ok("checkpoint", "diff", name, "1"); !strings.Contains(out, "two.txt") || strings.Contains(out, "one.txt") {
		t.Errorf("turn 1 to now: %s", out)
	}
	r.Says(exitcode.Usage, []string{"--from set the same point"}, "checkpoint", "diff", name, "1", "--from", "2")
	r.Says(exitcode.Usage, []string{"not 4 arguments"}, "checkpoint", "diff", name, "1", "2", "3")
	if out := r.Run("doctor").Stdout; !strings.Contains(out, "the output is not a terminal: verbs work") {
		t.Errorf("doctor: %s", out)
	}
}
