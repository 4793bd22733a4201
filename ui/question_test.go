package ui

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/typing"
)

// waiting plays a test from the list, with a thread selected whose agent asks.
func waiting(t *testing.T, test func(r *rig)) {
	t.Helper()
	on(t, world(), func(r *rig) {
		r.keys("w")
		if s := r.m.tree.Selected(); s.ID != "try-jwt-b7c1" {
			t.Fatalf("%s is selected", s.ID)
		}
		r.see()
		time.Sleep(typing.Pause)
		test(r)
	})
}

func TestQuestionIsAnsweredFromTheList(t *testing.T) {
	for key, call := range map[string]string{
		"a": `"approve" 0 ""`, "A": `"always" 0 ""`, "x": `"deny" 0 ""`, "2": `"" 2 ""`, "3": `"" 3 ""`,
	} {
		t.Run(key, func(t *testing.T) {
			waiting(t, func(r *rig) {
				r.must("rm -rf build; make", "a approve", "A always", "x deny", "r reply")
				r.keys(key)
				if r.srv.asked("answer") {
					t.Error("it is answered before more text could follow")
				}
				r.wait(typing.AnswerDelay)
				r.mustAsk("answer try-jwt-b7c1 1-abc " + call)
				if strings.Contains(r.see(), "a approve") {
					t.Error("it is still offered")
				}
			})
		})
	}
	waiting(t, func(r *rig) {
		r.keys("4") // there is no such answer, and 4 selects nothing else either
		r.wait(time.Second)
		r.keys("r")
		r.text("use a subfolder")
		r.keys("ctrl+s")
		r.mustAsk(`answer try-jwt-b7c1 1-abc "" 0 "use a subfolder"`)
	})
}

// TestAnswerGoesToTheQuestionThatWasSeen: what is asked by the time the key counts is another question.
func TestAnswerGoesToTheQuestionThatWasSeen(t *testing.T) {
	waiting(t, func(r *rig) {
		r.keys("a")
		s := *r.m.tree.Thread("try-jwt-b7c1")
		q := *s.State.Question
		q.ID, q.About = "2-def", "rm -rf /"
		s.State.Question = &q
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.must("rm -rf /")
		r.wait(typing.AnswerDelay)
		r.mustAsk("answer try-jwt-b7c1 1-abc")
		if r.srv.asked("answer try-jwt-b7c1 2-def") {
			t.Error("the new question was answered")
		}
	})
}

// TestSentencesAnswerNothing types sentences at human pace while an agent asks, each with enter.
func TestSentencesAnswerNothing(t *testing.T) {
	sentences := []string{
		"add a test", "allow it", "fix the bug", "run the tests", "ok", "always", "x the box", "a 1 2 3", "yes", "no",
		"approve", "deny that", "reply in French", "rename it", "resume work", "stop", "Stop. Do not do that", "merge it", "delete the old tests", "push it",
		"1", "2 is better", "3. then the rest", "try again", "what is .gitignore for", ".gitignore is wrong", "... and so on", "go on. a", "ok. s", "ok.s",
		"archive them", "finish this", "Please", "undo it", "explain", "fork it", "and a menu", "e.g. a", "a", "x",
	}
	chance := rand.New(rand.NewPCG(3, 5))
	for _, offered := range []bool{false, true} {
		for _, sentence := range sentences {
			waiting(t, func(r *rig) {
				if offered {
					r.offer(thread.Offer{ID: "o1", Thread: "auth-feature-a3f2", Label: "try sqlite", Why: "it fits", Rule: "subject"})
					r.keys("1")
					time.Sleep(typing.Pause)
				}
				for _, letter := range sentence {
					r.text(string(letter))
					r.wait(time.Duration(60+chance.IntN(int(typing.AnswerDelay/time.Millisecond)-80)) * time.Millisecond)
				}
				r.keys("enter")
				r.wait(time.Second)
				for _, call := range []string{"answer", "fork", "rename", "resume", "archive", "abandon", "stop", "merge", "new", "offer", "delete", "push"} {
					if r.srv.asked(call) {
						t.Errorf("%q did %s: %s", sentence, call, strings.Join(r.srv.calls, ", "))
					}
				}
			})
		}
	}
}

// TestQuestionIsLookedAtFirst: a key that comes as a question appears answers nothing, and one that comes as it goes
// does nothing else.
func TestQuestionIsLookedAtFirst(t *testing.T) {
	waiting(t, func(r *rig) {
		s := *r.m.tree.Thread("try-jwt-b7c1")
		q := *s.State.Question
		q.ID, q.About = "2-def", "rm -rf /"
		s.State.Question = &q
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.keys("a")
		r.wait(typing.AnswerDelay)
		r.must("asks this only now")
		s.State = thread.StateReport{State: thread.StateWorking, Since: time.Now()}
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.keys("x")
		r.wait(typing.AnswerDelay)
		r.must("the question is gone")
		if r.m.dialogs.Open() || len(r.srv.calls) > 0 && r.srv.asked("answer") {
			t.Errorf("it did something: %q", r.srv.calls)
		}
		r.wait(typing.Pause)
		r.keys("x!")
		r.must("waits for nothing")
	})
}

// TestQuestionWithoutRoomIsOpenedFirst: where neither the terminal nor the line shows all of it, a key shows it whole.
func TestQuestionWithoutRoomIsOpenedFirst(t *testing.T) {
	srv := world()
	srv.threads[0].State.State = thread.StateIdle // no spinner has the screen drawn meanwhile
	srv.threads[1].State.Question.About = strings.Repeat("make build and then take away all that is left of it; ", 4) + "rm -rf ~"
	play(t, srv, 60, 20, nil, func(r *rig) {
		stage(r)
		r.keys("w")
		r.see()
		time.Sleep(typing.Pause)
		r.keys("a")
		r.see() // drawn while the letter waits
		r.wait(typing.AnswerDelay)
		r.must("try-jwt asks", "rm -rf ~")
		if r.srv.asked("answer") {
			t.Error("it is answered before it was shown")
		}
		r.keys("right", "enter")
		r.mustAsk(`answer try-jwt-b7c1 1-abc "" 1 ""`)
	})
}

// TestQuestionTakesEmptyRows: a question stands on rows of the pane that its agent leaves empty, else on the rule below
// it. Neither resizes the terminal.
func TestQuestionTakesEmptyRows(t *testing.T) {
	waiting(t, func(r *rig) {
		r.must("┴─ ◆ rm -rf build; make")
		box := r.pane.box
		r.pane.sizes, r.pane.free = nil, 9
		r.wait(2 * time.Second)
		if r.must("├─ answer without entering ─", "│ ◆ rm -rf build; make", "x deny  r reply  enter open"); r.pane.lent != 3 {
			t.Errorf("%d rows are lent", r.pane.lent)
		}
		for y := box.Y; y < box.Y+box.H-r.pane.lent; y++ {
			if row := []rune(r.screen().RowText(y)); strings.TrimSpace(string(row[min(box.X, len(row)):])) != "" {
				t.Errorf("row %d of the pane holds %q", y, string(row))
			}
		}
		r.pane.free = 3 // its agent draws on: one row would be left between
		r.wait(2 * time.Second)
		if r.must("┴─ ◆ rm -rf build; make"); r.pane.lent != 0 {
			t.Errorf("%d rows are lent", r.pane.lent)
		}
		r.pane.free = 9
		r.wait(2 * time.Second)
		r.keys("enter") // into the terminal
		if r.pane.lent != 0 || !r.pane.focus {
			t.Errorf("inside the agent: %+v", r.pane)
		}
		r.keys("ctrl+q")
		s := *r.m.tree.Thread("try-jwt-b7c1")
		s.State = thread.StateReport{State: thread.StateWorking, Since: time.Now()}
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		if see := r.see(); r.pane.lent != 0 || strings.Contains(see, "answer without") {
			t.Errorf("%d rows are lent after it was answered:\n%s", r.pane.lent, see)
		}
		if len(r.pane.sizes) != 0 {
			t.Errorf("the terminal was resized: %v", r.pane.sizes)
		}
	})
}

// TestFullStopOpensNoMenu: the full stop of a sentence is of its text; typed alone, or after keys that move, it opens
// the menu.
func TestFullStopOpensNoMenu(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.slowly("so.")
		if r.m.dialogs.Open() {
			t.Errorf("%s is open", r.m.dialogs.Top().Title())
		}
		r.wait(typing.Pause)
		r.slowly("jj.")
		if !r.m.dialogs.Open() {
			t.Error("the menu does not open after keys that move")
		}
	})
}
