package manager_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// askingAgent is a headlessAgent that asks a person and waits.
type askingAgent struct{ headlessAgent }

func (a *askingAgent) Headless(ctx context.Context, s thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	h, err := a.headlessAgent.Headless(ctx, s)
	h.Dialogue, h.Launch.Args = asker{}, append(h.Launch.Args, "--asks="+string(s.Once.Asks))
	return h, err
}

// asker is a Dialogue that asks, which the fake sessions never use.
type asker struct{ silent }

func (asker) Answer(string, int, string) (thread.Said, error) { return thread.Said{}, nil }

// Steer has it take further prompts.
func (asker) Steer(string) (thread.Said, error) { return thread.Said{}, nil }

// withAsks has the agent claude ask a person, and codex not.
func withAsks(w *world) {
	withRuns(w)
	w.agents["claude"] = &askingAgent{headlessAgent{fullAgent{plainAgent{"claude"}, w.natives}}}
}

// permission is a question for a command.
func permission(id, command string) thread.Question {
	return thread.Question{ID: id, Kind: thread.QuestionPermission, Text: "May it run this?", About: command, Since: time.Now(), Choices: []thread.Choice{
		{Text: "Yes", Means: thread.Approve}, {Text: "Yes, always", Means: thread.ApproveAlways}, {Text: "No", Means: thread.Deny},
	}}
}

// answer answers the question with an id, as a person who saw it.
func (w *world) answer(id thread.ID, r thread.AnswerRequest) error {
	_, err := w.m.Questions.Answer(context.Background(), string(id), r)
	synctest.Wait()
	return err
}

// TestRunAsks: a run that asks needs input at once, with its question in its row and in the list of threads; the answer
// goes to that question, and it runs again.
func TestRunAsks(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it")
		p := w.sess.of(s.ID)
		if !slices.Contains(p.spec.Launch.Args, "--asks=wait") {
			t.Errorf("started with %q", p.spec.Launch.Args)
		}
		p.asks(permission("q1", "touch x"))
		p.asks(permission("q2", "rm x"))
		x := w.runIs(s.ID, exec.NeedsInput)
		if x.Question == nil || x.Question.ID != "q1" || len(x.Question.Choices) != 3 || x.Reason != "touch x" {
			t.Errorf("stored %+v, because %q", x.Question, x.Reason)
		}
		if s := w.status(s.ID); s.Group() != thread.GroupNeedsYou || s.State.State != thread.StateApproval || s.State.Question.ID != "q1" {
			t.Errorf("listed in %s: %+v", s.Group(), s.State)
		}
		for name, c := range map[string]thread.AnswerRequest{
			"another question":           {Question: "q0", Means: thread.Approve},
			"the one behind it":          {Question: "q2", Means: thread.Approve},
			"a choice that is not there": {Question: "q1", Choice: 4},
		} {
			if err := w.answer(s.ID, c); !errors.Is(err, thread.ErrRefused) && !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := w.answer(s.ID, thread.AnswerRequest{Question: "q1", Means: thread.Deny}); err != nil {
			t.Fatal(err)
		}
		if x := w.runIs(s.ID, exec.NeedsInput); x.Question.ID != "q2" {
			t.Errorf("then asks %+v", x.Question)
		}
		if err := w.answer(s.ID, thread.AnswerRequest{Question: "q2", Text: "not that one"}); err != nil {
			t.Fatal(err)
		}
		if x := w.runIs(s.ID, exec.Running); x.Question != nil || x.Reason != "" {
			t.Errorf("running: %+v, %q", x.Question, x.Reason)
		}
		if err := w.answer(s.ID, thread.AnswerRequest{Question: "q2", Means: thread.Approve}); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("answered twice: %v", err)
		}
		if !slices.Equal(p.chosen, []int{2, 2}) || !slices.Equal(p.said, []string{"not that one"}) {
			t.Errorf("chosen %v, said %q", p.chosen, p.said)
		}
		if list, _ := w.m.Prompts.List(context.Background(), string(s.ID), false); len(list) != 1 {
			t.Errorf("the answer became a prompt: %+v", list)
		}
		w.finish(s.ID, "do it")
		x = w.runIs(s.ID, exec.Completed)
		var kinds []string
		events, _ := w.m.Executions.Events(context.Background(), x.ID, 0, 100)
		for _, e := range events {
			if e.Kind == "asks" || e.Kind == "answered" || e.State == exec.NeedsInput {
				kinds = append(kinds, string(e.State)+e.Kind+" "+e.Text)
			}
		}
		if got := strings.Join(kinds, "; "); !strings.Contains(got, "asks May it run this? touch x") ||
			!strings.Contains(got, "answered touch x: choice 3") || !strings.Contains(got, "needs_input touch x") {
			t.Errorf("recorded %s", got)
		}
	}, withAsks)
}

// TestQuestionWithdrawn: what the agent withdraws, or changes, cannot be answered any more.
func TestQuestionWithdrawn(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it")
		p := w.sess.of(s.ID)
		p.asks(permission("q1", "touch x"))
		w.runIs(s.ID, exec.NeedsInput)
		p.withdraw("q1", "it has changed", true)
		p.asks(permission("q2", "rm -r x"))
		if err := w.answer(s.ID, thread.AnswerRequest{Question: "q1", Means: thread.Approve}); !errors.Is(err, thread.ErrRefused) || len(p.chosen) > 0 {
			t.Errorf("answered what has changed: %v, %v", err, p.chosen)
		}
		if x := w.runIs(s.ID, exec.NeedsInput); x.Question.ID != "q2" {
			t.Errorf("asks %+v", x.Question)
		}
		p.withdraw("q2", "not needed", true)
		w.runIs(s.ID, exec.Running)
	}, withAsks)
}

// TestPeopleTakeTime: the time of a run stands still while it waits for a person, and its place is lent.
func TestPeopleTakeTime(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("slow", func(r *thread.NewRequest) { r.Once.Deadline, r.InPlace = 3*time.Minute, true })
		p := w.sess.of(s.ID)
		time.Sleep(2 * time.Minute)
		p.asks(permission("q1", "touch x"))
		other := w.once("other", func(r *thread.NewRequest) { r.InPlace = true })
		w.runIs(other.ID, exec.Running)
		time.Sleep(time.Hour)
		w.runIs(s.ID, exec.NeedsInput)
		if err := w.answer(s.ID, thread.AnswerRequest{Question: "q1", Means: thread.Approve}); err != nil {
			t.Fatal(err)
		}
		third := w.once("third", func(r *thread.NewRequest) { r.InPlace = true })
		w.runIs(third.ID, exec.Queued)
		time.Sleep(59 * time.Second)
		w.runIs(s.ID, exec.Running)
		time.Sleep(2 * time.Second)
		w.runIs(s.ID, exec.Failed)
	}, withAsks, func(w *world) { w.cfg.Runs.Limits.All = 1 })
}

// TestNobodyToAsk: an agent that cannot wait for an answer ends at what it would have asked, unless it is to go on without
// or may only read; one that can is not held up by what is refused.
func TestNobodyToAsk(t *testing.T) {
	for name, c := range map[string]struct {
		agent string
		once  thread.Once
		ends  bool
	}{
		"cannot ask":           {"codex", thread.Once{}, true},
		"goes on without":      {"codex", thread.Once{Asks: thread.AsksNobody}, false},
		"reads":                {"codex", thread.Once{ReadOnly: true}, false},
		"asks":                 {"claude", thread.Once{}, false},
		"asks, but shall not":  {"claude", thread.Once{Asks: thread.AsksNobody}, false},
		"cannot ask, and must": {"codex", thread.Once{Asks: thread.AsksPerson}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("do it", func(r *thread.NewRequest) { r.Agent, r.Once = c.agent, c.once; r.Once.On = true })
				p := w.sess.of(s.ID)
				p.spec.OnRun(thread.RunEvent{Kind: thread.RunRefused, Tool: "shell", Text: "touch x"})
				if !c.ends {
					w.runIs(s.ID, exec.Running)
					return
				}
				x := w.runIs(s.ID, exec.Failed)
				for _, word := range []string{"touch x", "--asks refuse", "--permission-mode", "take it over"} {
					if !strings.Contains(x.Reason, word) {
						t.Errorf("failed because %q, without %q", x.Reason, word)
					}
				}
				if x.Failure.Code != exec.CodeUnclear || w.status(s.ID).Execution != nil {
					t.Errorf("failed as %+v", x.Failure)
				}
			}, withAsks)
		})
	}
}

// TestServerDiesWhileAsked: a question does not outlive its server, and the run says so.
func TestServerDiesWhileAsked(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("do it")
		w.sess.of(s.ID).asks(permission("q1", "touch x"))
		w.runIs(s.ID, exec.NeedsInput)
		w.crash()
		x := w.runIs(s.ID, exec.Lost)
		if x.Question != nil || !strings.Contains(x.Reason+w.recorded(x), "waited for an answer to: touch x") {
			t.Errorf("lost because %q (%s), asks %+v", x.Reason, w.recorded(x), x.Question)
		}
		if err := w.answer(s.ID, thread.AnswerRequest{Question: "q1", Means: thread.Approve}); err == nil {
			t.Error("answered it")
		}
	}, withAsks)
}

// recorded are the texts of an execution's events.
func (w *world) recorded(x exec.Execution) string {
	events, err := w.m.Executions.Events(context.Background(), x.ID, 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	var texts []string
	for _, e := range events {
		texts = append(texts, e.Text)
	}
	return strings.Join(texts, "; ")
}

// TestAnswersRace: of two who answer one question, one does; a cancelled run is answered by nobody.
func TestAnswersRace(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		for i := range 100 {
			s := w.once("do it", func(r *thread.NewRequest) { r.InPlace = true })
			p := w.sess.of(s.ID)
			q := permission(fmt.Sprintf("q%d", i), "touch x")
			p.asks(q)
			errs := make(chan error, 3)
			for range 2 {
				go func() {
					_, err := w.m.Questions.Answer(ctx, string(s.ID), thread.AnswerRequest{Question: q.ID, Means: thread.Approve})
					errs <- err
				}()
			}
			if i%2 == 0 {
				go func() { _, err := w.m.Executions.Cancel(ctx, w.newest(s.ID), "enough"); errs <- err }()
			} else {
				errs <- nil
			}
			given := 0
			for range 3 {
				if err := <-errs; err == nil {
					given++
				}
			}
			synctest.Wait()
			if given > 2 || i%2 == 1 && given != 2 || len(p.chosen) > 1 {
				t.Fatalf("round %d: %d succeeded, chosen %v", i, given, p.chosen)
			}
			if i%2 == 1 {
				w.finish(s.ID, "do it")
			}
			if x := w.execution(s.ID); !x.State.Final() || x.Question != nil {
				t.Fatalf("round %d: %s, asks %+v", i, x.State, x.Question)
			}
		}
	}, withAsks)
}

// newest is the id of a thread's newest execution.
func (w *world) newest(id thread.ID) exec.ID {
	list, _ := w.cfg.Runs.Store.Executions(context.Background(), exec.Query{Thread: id, Limit: 1})
	return list[0].ID
}

// TestSteer: a prompt for a run that works goes into its turn if its agent takes one there, with a row of its own; what it
// has not taken when it ends is the thread's next run.
func TestSteer(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one")
		p := w.sess.of(s.ID)
		two := w.ask(s.ID, "two")
		if got := w.is(two.ID, thread.PromptOpen); p.prompts() != "one\n---\ntwo" || got.Reason != "given to exec-001, which works" || got.From != thread.FromVerb {
			t.Fatalf("it was asked %q; %+v", p.prompts(), got)
		}
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunSteered, Text: "two"})
		three := w.ask(s.ID, "three")
		w.is(three.ID, thread.PromptOpen)
		if x := w.execution(s.ID); x.Name != "exec-001" || x.State != exec.Running {
			t.Fatalf("the newest is %s, %s", x.Name, x.State)
		}
		w.finish(s.ID, "one")
		time.Sleep(time.Minute)
		x := w.runIs(s.ID, exec.Running)
		if next := w.promptOf(x); x.Name != "exec-002" || next.Again != three.ID || next.Text != "three" || w.sess.of(s.ID).prompts() != "three" {
			t.Errorf("next is %s: %+v, asked %q", x.Name, next, w.sess.of(s.ID).prompts())
		}
		w.finish(s.ID, "three")
		w.runIs(s.ID, exec.Completed)
	}, withAsks)
}

// TestSteerNot: where a CLI takes no further prompt, where it does not take this one, and where another one waits, a prompt
// is the next run.
func TestSteerNot(t *testing.T) {
	for name, c := range map[string]struct {
		agent string
		set   func(w *world, p *session)
	}{
		"it cannot":   {"codex", func(*world, *session) {}},
		"not now":     {"claude", func(_ *world, p *session) { p.fail(thread.ErrBusy) }},
		"it has died": {"claude", func(_ *world, p *session) { p.fail(thread.ErrNotRunning) }},
		"one waits":   {"claude", func(w *world, p *session) { p.draft("x"); w.ask(p.spec.Thread, "before"); p.draft("") }},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("one", func(r *thread.NewRequest) { r.Agent = c.agent })
				p := w.sess.of(s.ID)
				c.set(w, p)
				two := w.ask(s.ID, "two")
				w.is(two.ID, thread.PromptQueued)
				x := w.execution(s.ID)
				if x.State != exec.Queued || x.Prompt != two.ID {
					t.Fatalf("%s is %s for %s", x.Name, x.State, x.Prompt)
				}
				p.fail(nil)
				w.finish(s.ID, "one")
				if name == "one waits" {
					w.finish(s.ID, "before")
				}
				x = w.runIs(s.ID, exec.Running)
				if got := w.sess.of(s.ID).prompts(); x.Prompt != two.ID || got != "two" {
					t.Errorf("%s for %s; asked %q", x.Name, x.Prompt, got)
				}
			}, withAsks)
		})
	}
}

// TestSteeredOnce: a server that dies at any write of a prompt that is given to a run leaves one that no agent has, which
// runs once, or one that is not given again.
func TestSteeredOnce(t *testing.T) {
	for at := 1; at <= 4; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(at, after), func(t *testing.T) {
				inWorld(t, func(w *world) {
					s := w.once("one")
					old := w.sess.of(s.ID)
					w.store.fuse.arm(at, after)
					_, asked := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "two"})
					synctest.Wait()
					w.crash()
					time.Sleep(time.Minute)
					given := strings.Count(old.prompts(), "two")
					if p := w.sess.of(s.ID); p != nil {
						given += strings.Count(p.prompts(), "two")
					}
					list, err := w.store.Prompts(context.Background(), s.ID, false, 10)
					most := 1
					if at == 3 && !after { // nobody knows that it was given: neither its row nor, here, the agent's files
						most = 2
					}
					if err != nil || given > most || asked == nil && (len(list) < 2 || given == 0) {
						t.Errorf("asked %v, given %d times; %+v, %v", asked, given, list, err)
					}
					t.Logf("asked %v, given %d times, of %d prompts the last is %s", asked, given, len(list), list[len(list)-1].State)
				}, withAsks)
			})
		}
	}
}

// TestSteeredIsPaidFor: what an agent sends to a run that works, and what that does not take, is asked for by that agent: its
// execution and its group pay, also if the server dies once the prompt is stored.
func TestSteeredIsPaidFor(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(w *world, p *session)
		dies bool
	}{
		"not taken": {func(*world, *session) {}, false},
		"not given": {func(_ *world, p *session) { p.fail(thread.ErrBusy) }, false},
		"crash":     {func(w *world, _ *session) { w.store.fuse.arm(1, true) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				above := w.once("above", ofGroup("night", 1))
				at := w.runIs(above.ID, exec.Running)
				below := w.once("below", func(r *thread.NewRequest) { r.By, r.InPlace = above.ID, true })
				p := w.sess.of(below.ID)
				first := w.runIs(below.ID, exec.Running)
				c.set(w, p)
				_, err := w.m.Prompts.Ask(context.Background(), string(below.ID), thread.AskRequest{Text: "two", By: above.ID})
				if c.dies {
					w.crash()
					time.Sleep(time.Minute)
				} else {
					if err != nil {
						t.Fatal(err)
					}
					w.finish(above.ID, "above")
					p.fail(nil)
					w.finish(below.ID, "below")
				}
				x := w.execution(below.ID)
				if q := w.promptOf(x); q.Text != "two" || x.ID == first.ID {
					t.Fatalf("the newest is %+v for %+v", x, q)
				}
				if x.By != above.ID || x.Within != at.ID || x.Group != "night" || x.Depth != at.Depth+1 {
					t.Errorf("by %q within %q, group %q, depth %d", x.By, x.Within, x.Group, x.Depth)
				}
			}, withAsks)
		})
	}
}
