package demo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/thread"
)

// asks waits for n questions, and returns them in the order of what they are about.
func (h *headless) asks(n int) (all []thread.Question) {
	h.t.Helper()
	for len(h.open()) < n {
		h.until(thread.RunAsks)
	}
	return h.open()
}

// open returns the questions that wait.
func (h *headless) open() (all []thread.Question) {
	for _, e := range h.all {
		switch e.Kind {
		case thread.RunAsks:
			all = append(all, *e.Question)
		case thread.RunAnswered:
			for i, q := range all {
				if q.ID == e.Question.ID {
					all = append(all[:i:i], all[i+1:]...)
					break
				}
			}
		default:
		}
	}
	return all
}

func (h *headless) answer(q thread.Question, choice int, text string) {
	h.t.Helper()
	said, err := h.talk.(thread.Asker).Answer(q.ID, choice, text)
	if err != nil {
		h.t.Fatal(err)
	}
	h.say(said)
	if _, err := h.talk.(thread.Asker).Answer(q.ID, choice, text); !errors.Is(err, thread.ErrRefused) {
		h.t.Errorf("answered twice: %v", err)
	}
}

func (s *stage) there(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

var asking = thread.LaunchSpec{Once: thread.Once{Asks: thread.AsksPerson}}

func TestHeadlessAsks(t *testing.T) {
	s := newStage(t)
	// One after the other; what is denied does not happen, and the model reads why.
	h := s.headless(t, asking, "run touch one, then run touch two")
	q := h.asks(1)[0]
	if q.Kind != thread.QuestionPermission || q.About != "touch one" || q.Text != "Allow this command?" || s.there("one") {
		t.Errorf("%+v", q)
	}
	h.answer(q, q.Choice(thread.Approve), "")
	next := h.asks(1)[0]
	if next.About != "touch two" || next.ID == q.ID || !s.there("one") {
		t.Errorf("%+v", next)
	}
	h.answer(next, next.Choice(thread.Deny), "use three")
	h.completes()
	if s.there("two") || !strings.Contains(h.said(thread.RunText), "You said: use three") {
		t.Errorf("%+v", h.all)
	}
	// All at once, answered in another order; yes to all alike is for those that follow.
	h = s.headless(t, asking, "run touch a, then run touch b, then run touch c #together")
	all := h.asks(3)
	for _, q := range all {
		choice := thread.Approve
		if q.About == "touch b" {
			choice = thread.Deny
		}
		h.answer(q, q.Choice(choice), "")
	}
	h.completes()
	if !s.there("a") || s.there("b") || !s.there("c") {
		t.Errorf("%+v", h.all)
	}
	h = s.headless(t, asking, "run touch d, then run touch e")
	q = h.asks(1)[0]
	h.answer(q, q.Choice(thread.ApproveAlways), "")
	if h.completes(); !s.there("d") || !s.there("e") {
		t.Errorf("%+v", h.all)
	}
	for _, c := range []struct {
		prompt string
		kind   thread.QuestionKind
		means  thread.Meaning
		choice int
		text   string
		want   string
	}{
		{"ask: Which? [red | green]", thread.QuestionChoice, "", 1, "", "You chose: green"},
		{"ask: Which? [red | green]", thread.QuestionChoice, "", 0, "dark", "You chose: red: dark"},
		{"ask: Which? [red | green]", thread.QuestionChoice, "", thread.Dismiss, "blue", "You chose: blue"},
		{"ask: Which? [red | green]", thread.QuestionChoice, "", thread.Dismiss, "", "I did not do that"},
		{"plan: a shelf, then write shelf.txt: oak", thread.QuestionPlan, thread.Approve, 0, "", "wrote 4 bytes"},
		{"plan: a shelf, then write no.txt: oak", thread.QuestionPlan, thread.Deny, 0, "", "I did not do that"},
	} {
		h := s.headless(t, asking, c.prompt)
		q := h.asks(1)[0]
		if c.means != "" {
			c.choice = q.Choice(c.means)
		}
		if q.Kind != c.kind || c.kind == thread.QuestionPlan && q.About != "a shelf" {
			t.Errorf("%+v", q)
		}
		h.answer(q, c.choice, c.text)
		h.completes()
		if !strings.Contains(strings.ToLower(h.said(thread.RunText)), strings.ToLower(c.want)) {
			t.Errorf("%q: %+v", c.prompt, h.all)
		}
	}
	if !s.there("shelf.txt") || s.there("no.txt") {
		t.Error("the plan was not followed")
	}
}

// A question that is withdrawn, that changes, or whose turn is interrupted, is not answered any more.
func TestHeadlessWithdraws(t *testing.T) {
	s := newStage(t)
	late := func(h *headless, q thread.Question) {
		t.Helper()
		if _, err := h.talk.(thread.Asker).Answer(q.ID, 0, ""); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("answered after it was withdrawn: %v", err)
		}
	}
	h := s.headless(t, asking, "run touch gone #withdraw:50ms")
	q := h.asks(1)[0]
	h.until(thread.RunAnswered)
	late(h, q)
	if h.completes(); !strings.Contains(h.said(thread.RunText), "withdrawn") {
		t.Errorf("%+v", h.all)
	}
	h = s.headless(t, asking, "run touch old #change:50ms")
	q = h.asks(1)[0]
	h.until(thread.RunAnswered)
	late(h, q)
	next := h.asks(1)[0]
	if next.About != "touch old-changed" || next.ID == q.ID {
		t.Errorf("%+v", next)
	}
	h.answer(next, next.Choice(thread.Approve), "")
	h.completes()
	// The answer crosses the withdrawal: it is told that it came too late.
	h = s.headless(t, asking, "run touch crossed #withdraw:50ms")
	q = h.asks(1)[0]
	time.Sleep(200 * time.Millisecond) // the withdrawal is printed, and not read yet
	h.answer(q, 0, "")
	if h.completes(); !strings.Contains(h.said(thread.RunNotice), "too late") {
		t.Errorf("%+v", h.all)
	}
	h = s.headless(t, asking, "run touch never")
	q = h.asks(1)[0]
	h.say(h.talk.Interrupt())
	if e := h.end(); e.Outcome != thread.RunCancelled || len(h.open()) > 0 {
		t.Errorf("%+v", h.all)
	}
	late(h, q)
	h = s.headless(t, asking, "run touch never")
	h.asks(1)
	h.signal(syscall.SIGKILL)
	if e := h.end(); e.Outcome != thread.RunFailed || len(h.open()) > 0 {
		t.Errorf("%+v", h.all)
	}
	if s.there("gone") || s.there("old") || !s.there("old-changed") || s.there("crossed") || s.there("never") {
		t.Error("what was withdrawn was done")
	}
}

func TestHeadlessSteered(t *testing.T) {
	s := newStage(t)
	h := s.headless(t, asking, "run touch first, then run touch second")
	q := h.asks(1)[0]
	steer := func(text string) error {
		said, err := h.talk.(thread.Steerer).Steer(text)
		h.say(said)
		return err
	}
	if err := steer("say: something else"); err != nil {
		t.Error(err)
	}
	time.Sleep(100 * time.Millisecond) // it has read that before the answer, which would be so at any pause
	h.answer(q, q.Choice(thread.Approve), "")
	h.completes()
	if got := h.said(thread.RunSteered); got != "say: something else" || !strings.Contains(h.said(thread.RunText), "something else") {
		t.Errorf("%+v", h.all)
	}
	if !s.there("first") || s.there("second") {
		t.Error("it was not steered")
	}
	if err := steer("late"); !errors.Is(err, thread.ErrBusy) {
		t.Errorf("steered after its end: %v", err)
	}
	h = s.headless(t, thread.LaunchSpec{Session: h.id, Resume: true}, "What did I ask you?").completes()
	if !strings.Contains(h.said(thread.RunText), "You asked me 2 things before") {
		t.Errorf("%+v", h.all)
	}
}

// A run that has used up its calls goes on without tools, and reports.
func TestHeadlessWithoutTools(t *testing.T) {
	s := newStage(t)
	if err := os.WriteFile(filepath.Join(s.dir, "a.txt"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	auto := thread.Flags{PermissionMode: "auto"}
	h := s.headless(t, thread.LaunchSpec{Flags: auto}, "read a.txt, then run sleep 600 #times:3")
	for strings.Count(h.said(thread.RunTool), "run_command") < 1 {
		h.until(thread.RunTool)
	}
	h.say(h.talk.Interrupt())
	if e := h.end(); e.Outcome != thread.RunCancelled {
		t.Errorf("%+v", e)
	}
	reads := 0
	for _, e := range h.all {
		if e.Kind == thread.RunTool && e.Reads == "a.txt" {
			reads++
		}
	}
	if reads != 3 {
		t.Errorf("%d reads: %+v", reads, h.all)
	}
	idle := thread.LaunchSpec{Session: h.id, Resume: true, Flags: auto, Once: thread.Once{Caps: thread.Caps{NoTools: true}}}
	h = s.headless(t, idle, "You have used all your 4 calls. Report.").completes()
	if got := h.said(thread.RunText); !strings.Contains(got, "made 4 calls (read_file 3, run_command 1)") ||
		!strings.Contains(got, "Gap: 2 calls left; the next is to run `sleep 600`") {
		t.Errorf("%q", got)
	}
	h = s.headless(t, idle, "run touch forbidden").completes()
	if s.there("forbidden") || !strings.Contains(h.said(thread.RunText), "no calls are left") {
		t.Errorf("%+v", h.all)
	}
}
