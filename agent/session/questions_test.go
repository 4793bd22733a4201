package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// asking is a talk that asks: "ask ID TEXT" asks, or changes what is asked, "drop ID" withdraws it. Answers are lines of the
// input: "answer ID CHOICE TEXT". A further prompt is one, too.
type asking struct {
	talk
	open map[string]bool
}

func (d *asking) Read(line []byte) thread.Said {
	word, rest, _ := strings.Cut(string(line), " ")
	id, text, _ := strings.Cut(rest, " ")
	switch word {
	case "ask":
		d.open[id] = true
		return said(thread.RunEvent{Kind: thread.RunAsks, Question: &thread.Question{ID: id, Kind: thread.QuestionPermission,
			Text: "Run it?", About: text, Choices: []thread.Choice{{Text: "Yes", Means: thread.Approve}, {Text: "No", Means: thread.Deny}}}})
	case "drop":
		delete(d.open, id)
		return said(thread.RunEvent{Kind: thread.RunAnswered, Question: &thread.Question{ID: id}, Failed: true, Text: "not needed"})
	}
	return d.talk.Read(line)
}

func said(e thread.RunEvent) thread.Said { return thread.Said{Events: []thread.RunEvent{e}} }

func (d *asking) Answer(id string, choice int, text string) (thread.Said, error) {
	if !d.open[id] {
		return thread.Said{}, thread.ErrRefused
	}
	delete(d.open, id)
	s := said(thread.RunEvent{Kind: thread.RunAnswered, Question: &thread.Question{ID: id}, Text: fmt.Sprint(choice)})
	s.Write = fmt.Appendf(nil, "answer %s %d %s\n", id, choice, text)
	return s, nil
}

func (d *asking) Steer(prompt string) (thread.Said, error) {
	s := said(thread.RunEvent{Kind: thread.RunSteered, Text: prompt})
	s.Write = []byte("steer " + prompt + "\n")
	return s, nil
}

// runAsking starts a script that asks, and gives it its prompt.
func runAsking(t *testing.T, script string) *headless {
	t.Helper()
	r := runIn(t, sessions(t), &asking{open: map[string]bool{}}, "read prompt\n"+script)
	if err := r.Send(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	return r
}

// question waits until something about a text is asked, and returns it.
func (r *headless) question(t *testing.T, about string) *thread.Question {
	t.Helper()
	var q *thread.Question
	await.Until(t, "it asks about "+about, func() bool {
		q = r.State().Question
		return q != nil && strings.HasPrefix(q.About, about)
	})
	return q
}

// TestRunAsks: what a run asks is its state, in the order of asking, and each answer reaches the question it is for.
func TestRunAsks(t *testing.T) {
	r := runAsking(t, `echo ask 1 touch a; echo ask 2 touch b; read a; read b; echo "text $a, $b"; echo end completed`)
	q := r.question(t, "touch a")
	if s := r.State(); s.State != thread.StateApproval || q.Since.IsZero() || q.Text != "Run it?" || len(q.Choices) != 2 || s.Why() != "asks: touch a" {
		t.Errorf("its state: %+v", s)
	}
	for name, c := range map[string]struct {
		id     string
		choice int
		want   error
	}{
		"the dialogue's own id": {"1", 0, thread.ErrRefused}, "no id": {"", 0, thread.ErrRefused},
		"too many": {q.ID, 2, thread.ErrInvalid}, "below": {q.ID, -2, thread.ErrInvalid},
	} {
		if err := r.Answer(context.Background(), c.id, c.choice); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Answer(context.Background(), q.ID, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.Answer(context.Background(), q.ID, 0); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("answered twice: %v", err)
	}
	b := r.question(t, "touch b")
	if err := r.Reply(context.Background(), b.ID, 1, "not that"); err != nil {
		t.Fatal(err)
	}
	if s := r.State(); s.Question != nil || s.State == thread.StateApproval {
		t.Errorf("after the last answer: %+v", s)
	}
	if e := r.ends(t); e.Outcome != thread.RunCompleted || !strings.Contains(r.words(), "answer 1 0, answer 2 1 not that") {
		t.Errorf("%s: %s", e.Outcome, r.words())
	}
	if !r.shows("? asks Run it? touch a") || !r.shows("? answered touch b: 1") {
		t.Errorf("its log: %q", r.Screen())
	}
	if err := r.Answer(context.Background(), b.ID, 0); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("answered after the end: %v", err)
	}
}

// TestQuestionsGo: what is withdrawn, has changed, or whose run is over, is not answered.
func TestQuestionsGo(t *testing.T) {
	ctx := context.Background()
	t.Run("withdrawn", func(t *testing.T) {
		r := runAsking(t, `echo ask 1 touch a; read go; echo drop 1; read a; echo "text got $a"; echo end completed`)
		q := r.question(t, "touch a")
		if err := r.Send(ctx, "on"); err != nil {
			t.Fatal(err)
		}
		await.Until(t, "it withdraws its question", func() bool { return r.State().Question == nil })
		if err := r.Answer(ctx, q.ID, 0); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("answered: %v", err)
		}
		if err := r.Send(ctx, "that"); err != nil {
			t.Fatal(err)
		}
		if r.ends(t); strings.Contains(r.words(), "answer") && strings.Contains(r.words(), "got answer") || !strings.Contains(r.words(), "got steer that") {
			t.Error(r.words())
		}
	})
	t.Run("changed", func(t *testing.T) {
		r := runAsking(t, `echo ask 1 touch a; read go; echo ask 1 rm -r b; echo ask 1 rm -r b; read a; echo "text got $a"; echo end completed`)
		q := r.question(t, "touch a")
		if err := r.Send(ctx, "on"); err != nil {
			t.Fatal(err)
		}
		b := r.question(t, "rm -r b")
		if err := r.Answer(ctx, q.ID, 0); !errors.Is(err, thread.ErrRefused) || b.ID == q.ID {
			t.Errorf("answered what it asked before: %v", err)
		}
		if err := r.Answer(ctx, b.ID, 1); err != nil {
			t.Fatal(err)
		}
		if r.ends(t); strings.Count(r.words(), "asks(") != 2 || !strings.Contains(r.words(), "answered(it has changed)") || !strings.Contains(r.words(), "got answer 1 1") {
			t.Error(r.words())
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		r := runAsking(t, `echo ask 1 touch a; read i; echo end; read a; echo "text got $a"`)
		q := r.question(t, "touch a")
		go r.Cancel(ctx) //nolint:errcheck // its end shows it
		await.Until(t, "its question is gone", func() bool { return r.State().Question == nil })
		if err := r.Answer(ctx, q.ID, 0); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("answered: %v", err)
		}
		if e := r.ends(t); e.Outcome != thread.RunCancelled || strings.Contains(r.words(), "got answer") {
			t.Errorf("%s: %s", e.Outcome, r.words())
		}
	})
	t.Run("died", func(t *testing.T) {
		r := runAsking(t, `echo ask 1 touch a; kill -9 $$`)
		r.ends(t)
		if !strings.Contains(r.words(), "answered(the run has ended)end(") {
			t.Error(r.words())
		}
	})
}

// TestQuestionIsHarmless: a question is shown on one line, without what acts on a terminal, and a cut is seen.
func TestQuestionIsHarmless(t *testing.T) {
	r := runAsking(t, `printf 'ask 1 touch a\033[2J \033]0;x\007%9000s rm -r b%9000s\n' ' ' ' ' | tr ' ' ' '; printf 'ask 2 %s\n' "$(head -c 9000 /dev/zero | tr '\0' x)"; read a; read b`)
	q := r.question(t, "touch a")
	if strings.ContainsAny(q.About, "\x1b\x07\n") || !strings.HasSuffix(q.About, " rm -r b") {
		t.Errorf("asks %q", q.About)
	}
	if err := r.Answer(context.Background(), q.ID, 0); err != nil {
		t.Fatal(err)
	}
	if q := r.question(t, "xxx"); len(q.About) > 5000 || !strings.HasSuffix(q.About, "\u2026 (4.8 KiB more)") {
		t.Errorf("asks %d bytes, …%q", len(q.About), q.About[len(q.About)-30:])
	}
}

// TestHundredQuestions: of many who answer each of a hundred questions, one does, and the agent gets each answer once.
func TestHundredQuestions(t *testing.T) {
	r := runAsking(t, `i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo ask $i do $i; read a; echo "text $a!"; done; echo end completed`)
	var wg sync.WaitGroup
	var given, wrong atomic.Int32
	for range 4 {
		wg.Go(func() {
			for r.State().State != thread.StateExited {
				q := r.State().Question
				if q == nil {
					time.Sleep(time.Millisecond)
					continue
				}
				switch err := r.Answer(context.Background(), q.ID, 0); {
				case err == nil:
					given.Add(1)
				case !errors.Is(err, thread.ErrRefused):
					wrong.Add(1)
				}
			}
		})
	}
	r.ends(t)
	wg.Wait()
	for i := 1; i <= 100; i++ {
		if n := strings.Count(r.words(), fmt.Sprintf("text(answer %d 0!)", i)); n != 1 {
			t.Fatalf("question %d was answered %d times: %s", i, n, r.words())
		}
	}
	if given.Load() != 100 || wrong.Load() != 0 {
		t.Errorf("%d were told that they answered; %d other errors", given.Load(), wrong.Load())
	}
}
