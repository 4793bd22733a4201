package ui

import (
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/typing"
)

// full has the server tell of something of every kind that is open for the person.
func (r *rig) full() {
	change := func(id string, change func(*thread.Status)) {
		s := r.srv.find(id)
		change(&s)
		r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
	}
	change("docs-f9a0", func(s *thread.Status) {
		s.State = thread.StateReport{State: thread.StateDone, Since: time.Now().Add(-6 * time.Minute)}
		s.Last = "all 212 tests pass"
	})
	change("auth-feature-a3f2", func(s *thread.Status) {
		s.Offer = &thread.Offer{ID: "o1", Thread: s.ID, Label: "try sqlite", Why: "the prompt leaves the subject", Rule: "subject"}
	})
}

// TestInboxIsAnsweredInPlace: what is open is answered from its row, as from the list, and the thread behind it is the
// one that is selected.
func TestInboxIsAnsweredInPlace(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.full()
		before := r.m.tree.Selected().ID
		r.keys("I")
		r.must("rm -rf build; make", "evil", "try sqlite", "all 212 tests pass", "can be resumed")
		if s := r.m.tree.Selected(); s.ID != "try-jwt-b7c1" {
			t.Errorf("%s is selected", s.ID)
		}
		time.Sleep(typing.Pause)
		r.keys("x!")
		r.mustAsk(`answer try-jwt-b7c1 1-abc "deny" 0 ""`)
		r.keys("end")
		if s := r.m.tree.Selected(); s.ID != "docs-f9a0" {
			t.Errorf("%s is selected, whose answer is to be read", s.ID)
		}
		r.keys("d")
		r.mustAsk("seen docs-f9a0")
		r.keys("up", "x!")
		r.mustAsk("offer o1 dismiss")
		r.keys("esc")
		if s := r.m.tree.Selected(); s.ID != before || r.m.dialogs.Open() {
			t.Errorf("%s is selected after the inbox, before it was %s", s.ID, before)
		}
	})
	on(t, world(), func(r *rig) { // a letter that text follows answers nothing here either
		r.keys("I")
		time.Sleep(typing.Pause)
		r.slowly("allow it\r")
		r.wait(time.Second)
		if r.srv.asked("answer") {
			t.Error("a sentence answers")
		}
	})
	on(t, world(), func(r *rig) { // a server of the repository
		r.keys("I", "down")
		r.must("https://evil.example")
		r.keys("a!")
		r.must("accept evil?")
		r.keys("esc", "enter")
		r.must("accept evil?")
	})
}

// TestInboxAnswersItsRow: another thread that is selected from elsewhere below the inbox does not get the key.
func TestInboxAnswersItsRow(t *testing.T) {
	on(t, world(), func(r *rig) {
		docs := r.srv.find("docs-f9a0")
		docs.State = thread.StateReport{State: thread.StateApproval, Since: time.Now(), Question: &thread.Question{
			ID: "9-evil", Kind: thread.QuestionPermission, Text: "Do you want to proceed?", About: "rm -rf ~", Since: time.Now(),
			Choices: []thread.Choice{{Text: "Yes", Means: thread.Approve}, {Text: "No", Means: thread.Deny}},
		}}
		r.event(thread.Event{Kind: thread.EventThread, ThreadID: docs.ID, Status: &docs})
		r.keys("I", "home")
		r.see()
		time.Sleep(typing.Pause)
		row, _ := r.m.tree.Selected(), 0
		r.event(thread.Event{Kind: thread.EventSwitch, ThreadID: docs.ID})
		if s := r.m.tree.Selected(); s.ID != docs.ID || row.ID == docs.ID {
			t.Fatalf("%s is selected, %s was", s.ID, row.ID)
		}
		r.see()
		time.Sleep(typing.Pause)
		r.keys("a!")
		if r.srv.asked("answer docs-f9a0") {
			t.Errorf("the question of another row was answered: %q", r.srv.calls)
		}
	})
}

// TestHeldLetterIsForWhatWasShown: the thread of an offer, or of a menu, is no longer selected when its letter would act.
func TestHeldLetterIsForWhatWasShown(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.offer(thread.Offer{ID: "o1", Thread: "auth-feature-a3f2", Label: "try sqlite", Why: "it fits", Rule: "subject"})
		r.offer(thread.Offer{ID: "o2", Thread: "docs-f9a0", Label: "try redis", Why: "it fits", Rule: "subject"})
		r.m.tree.Select("auth-feature-a3f2")
		r.see()
		time.Sleep(typing.Pause)
		r.keys("x")
		r.m.tree.Select("docs-f9a0")
		r.wait(typing.AnswerDelay)
		if r.srv.asked("offer") {
			t.Errorf("an offer was dismissed: %q", r.srv.calls)
		}
	})
	on(t, world(), func(r *rig) {
		r.m.tree.Select("auth-feature-a3f2")
		time.Sleep(typing.Pause)
		r.keys(".")
		r.event(thread.Event{Kind: thread.EventSwitch, ThreadID: "docs-f9a0"})
		r.keys("ctrl+s")
		if r.srv.asked("stop") {
			t.Errorf("another thread's agent was stopped: %q", r.srv.calls)
		}
		r.must("Nothing was done")
	})
}
