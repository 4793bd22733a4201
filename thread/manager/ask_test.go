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
)

// ask has a prompt accepted.
func (w *world) ask(id thread.ID, text string) thread.Prompt {
	w.t.Helper()
	p, err := w.m.Prompts.Ask(ctx, string(id), thread.AskRequest{Text: text})
	if err != nil {
		w.t.Fatalf("Ask: %v", err)
	}
	synctest.Wait()
	return p
}

// prompt returns a prompt as it is now, listed and stored alike.
func (w *world) prompt(id thread.PromptID) thread.Prompt {
	w.t.Helper()
	list, err := w.m.Prompts.List(ctx, "", false)
	if err != nil {
		w.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(p thread.Prompt) bool { return p.ID == id })
	if i < 0 {
		w.t.Fatalf("prompt %s is not listed among %+v", id, list)
	}
	if stored, err := w.store.Prompt(ctx, id); err != nil || stored.State != list[i].State {
		w.t.Errorf("prompt %s is listed as %s and stored as %s %v", id, list[i].State, stored.State, err)
	}
	return list[i]
}

// is checks how far a prompt got.
func (w *world) is(id thread.PromptID, want thread.PromptState) thread.Prompt {
	w.t.Helper()
	p := w.prompt(id)
	if p.State != want {
		w.t.Errorf("prompt %q is %s (%s), want %s", p.Text, p.State, p.Reason, want)
	}
	return p
}

// answeredBy checks that a prompt has the answer to itself and no other.
func (w *world) answeredBy(id thread.PromptID, answer string) thread.Prompt {
	w.t.Helper()
	p := w.is(id, thread.PromptAnswered)
	c, err := w.store.Checkpoint(ctx, p.Answer)
	if err != nil || c.Kind != thread.KindTurn || c.Answer != answer || c.Turn != p.Turn {
		w.t.Errorf("prompt %q is answered by %+v %v, want %q", p.Text, c, err, answer)
	}
	return p
}

// idle has a thread's agent say that it waits for a prompt.
func (w *world) idle(id thread.ID) {
	w.sess.of(id).Report(thread.Evidence{Source: thread.SourceHook, State: thread.StateIdle, At: time.Now()})
	synctest.Wait()
}

func TestAskedOneAfterTheOther(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		a, b, c := w.ask(s.ID, "one"), w.ask(s.ID, "two"), w.ask(s.ID, "three")
		if w.is(a.ID, thread.PromptOpen); a.Seq >= b.Seq || b.Seq >= c.Seq {
			t.Errorf("accepted out of order: %d %d %d", a.Seq, b.Seq, c.Seq)
		}
		if p := w.is(b.ID, thread.PromptQueued); p.Reason == "" || w.sess.of(s.ID).prompts() != "one" {
			t.Errorf("second: %+v, sent %q", p, w.sess.of(s.ID).prompts())
		}
		if got := w.status(s.ID); got.Queued != 2 || len(got.Prompts) != 3 || got.Prompts[0].State != thread.PromptOpen {
			t.Errorf("status %d %+v", got.Queued, got.Prompts)
		}
		for i, p := range []thread.Prompt{a, b, c} {
			w.turn(s.ID, p.Text)
			if got := w.answeredBy(p.ID, "answer to "+p.Text); got.Turn != i+1 {
				t.Errorf("prompt %q is turn %d", p.Text, got.Turn)
			}
		}
		if got := w.status(s.ID); got.Queued != 0 || len(got.Prompts) != 0 {
			t.Errorf("afterwards: %d %+v", got.Queued, got.Prompts)
		}
		var told []string
		for _, e := range w.events.of(thread.EventPrompt) {
			if e.Prompt.ID == b.ID {
				told = append(told, string(e.Prompt.State))
			}
		}
		if got := slices.Compact(told); !slices.Equal(got, []string{"queued", "typing", "open", "answered"}) {
			t.Errorf("told %v", got)
		}
	})
}

func TestQueuedPromptsAreTheirPersons(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		open, edited, gone := w.ask(s.ID, "one"), w.ask(s.ID, "two"), w.ask(s.ID, "three")
		if p, err := w.m.Prompts.Edit(ctx, edited.ID, "two and a half"); err != nil || p.Text != "two and a half" || p.Seq != edited.Seq {
			t.Errorf("edited: %+v %v", p, err)
		}
		if p, err := w.m.Prompts.Cancel(ctx, gone.ID); err != nil || p.State != thread.PromptCancelled {
			t.Errorf("cancelled: %+v %v", p, err)
		}
		for name, c := range map[string]struct {
			do   func() error
			want error
		}{
			"edit one that is open":   {func() error { _, err := w.m.Prompts.Edit(ctx, open.ID, "x"); return err }, thread.ErrBusy},
			"edit to nothing":         {func() error { _, err := w.m.Prompts.Edit(ctx, edited.ID, " \x1b "); return err }, thread.ErrInvalid},
			"edit one that is over":   {func() error { _, err := w.m.Prompts.Edit(ctx, gone.ID, "x"); return err }, thread.ErrRefused},
			"cancel one that is over": {func() error { _, err := w.m.Prompts.Cancel(ctx, gone.ID); return err }, thread.ErrRefused},
			"cancel one that is open": {func() error { _, err := w.m.Prompts.Cancel(ctx, open.ID); return err }, thread.ErrBusy},
			"cancel none":             {func() error { _, err := w.m.Prompts.Cancel(ctx, "p1"); return err }, thread.ErrNotFound},
			"repeat one that is open": {func() error { _, err := w.m.Prompts.Again(ctx, open.ID, ""); return err }, thread.ErrRefused},
			"ask nothing": {func() error {
				_, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: "\x00\x1b\n"})
				return err
			}, thread.ErrInvalid},
			"ask a megabyte and more": {func() error {
				_, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: strings.Repeat("x", 1<<20+1)})
				return err
			}, thread.ErrInvalid},
			"ask nobody":               {func() error { _, err := w.m.Prompts.Ask(ctx, "nobody", thread.AskRequest{Text: "x"}); return err }, thread.ErrNotFound},
			"the prompts of no thread": {func() error { _, err := w.m.Prompts.List(ctx, "nobody", true); return err }, thread.ErrNotFound},
		} {
			if err := c.do(); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		w.turn(s.ID, "one")
		w.turn(s.ID, "two and a half")
		w.answeredBy(edited.ID, "answer to two and a half")
		if got := w.sess.of(s.ID).prompts(); got != "one\n---\ntwo and a half" {
			t.Errorf("sent %q", got)
		}
	})
}

func TestTooManyPromptsWait(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		for i := range 1001 { // one is open
			w.ask(s.ID, fmt.Sprint("prompt ", i))
		}
		if _, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: "one more"}); !errors.Is(err, thread.ErrLimit) {
			t.Errorf("one more: %v", err)
		}
		if got := w.status(s.ID); got.Queued != 1000 || len(got.Prompts) > 8 {
			t.Errorf("%d wait, %d are listed", got.Queued, len(got.Prompts))
		}
	})
}

// TestPromptsOfThePane types in the agent itself: each prompt has its row at the first evidence, whichever comes first.
func TestPromptsOfThePane(t *testing.T) {
	for name, evidence := range map[string]func(w *world, id thread.ID, text string){
		"hook": func(w *world, id thread.ID, text string) {
			w.m.Traffic.Hook(id, "UserPromptSubmit", []byte(fmt.Sprintf(`{"prompt":%q}`, text)))
		},
		"request": func(w *world, id thread.ID, text string) {
			w.m.Traffic.RequestStarted(id, thread.Begun{Main: true, Prompt: text, At: time.Now()})
			w.m.Traffic.ExchangeEnded(id, thread.Exchange{Main: true, Status: 500, Prompt: text, Ended: time.Now()})
		},
		"answer": func(*world, thread.ID, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.create(thread.NewRequest{})
				for n, text := range []string{"one", "continue", "continue"} {
					evidence(w, s.ID, text)
					synctest.Wait()
					if name == "hook" || name == "request" && n < 2 { // of the same words a request alone tells nothing new
						if got := w.status(s.ID).Prompts; len(got) != 1 || got[0].State != thread.PromptOpen || got[0].Text != text || got[0].From != thread.FromPane {
							t.Errorf("%q: at the first evidence %+v", text, got)
						}
					}
					w.turn(s.ID, text)
					list, err := w.m.Prompts.List(ctx, s.Name, false)
					if err != nil || len(list) != n+1 {
						t.Fatalf("%d prompts, want %d: %+v %v", len(list), n+1, list, err)
					}
					if got := w.answeredBy(list[n].ID, "answer to "+text); got.Turn != n+1 || got.From != thread.FromPane || got.Text != text {
						t.Errorf("%q: %+v", text, got)
					}
				}
			})
		})
	}
}

// TestLongPromptOfThePane: what is longer than a prompt may be is cut off at a whole character; the turn has it all.
func TestLongPromptOfThePane(t *testing.T) {
	text := strings.Repeat("x", thread.MaxPrompt-1) + "ü"
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Prompt: text, At: time.Now()})
		synctest.Wait()
		open := w.status(s.ID).Prompts
		if len(open) != 1 {
			t.Fatalf("%d prompts", len(open))
		}
		if p, err := w.store.Prompt(ctx, open[0].ID); err != nil || p.Text != text[:thread.MaxPrompt-1] || !p.Cut {
			t.Errorf("%d bytes, cut %v, %v", len(p.Text), p.Cut, err)
		}
	})
}

// TestHookThatIsLate tells of a prompt whose turn has ended: it is not another one.
func TestHookThatIsLate(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		w.m.Traffic.Hook(s.ID, "UserPromptSubmit", []byte(`{"prompt":"one"}`))
		synctest.Wait()
		list, err := w.m.Prompts.List(ctx, s.Name, false)
		if err != nil || len(list) != 1 || list[0].State != thread.PromptAnswered {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// TestSeveralPromptsInOneTurn: prompts that waited in the agent itself go as one turn, which is named by the first.
func TestSeveralPromptsInOneTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		for _, text := range []string{"first this", "then that"} {
			w.m.Traffic.Hook(s.ID, "UserPromptSubmit", []byte(fmt.Sprintf(`{"prompt":%q}`, text)))
		}
		synctest.Wait()
		w.turn(s.ID, "first this\nthen that")
		list, err := w.m.Prompts.List(ctx, s.Name, false)
		if err != nil || len(list) != 2 || list[0].With != "" || list[1].With != list[0].ID {
			t.Fatalf("%+v %v", list, err)
		}
		for _, p := range list {
			if got := w.answeredBy(p.ID, "answer to first this\nthen that"); got.Turn != 1 {
				t.Errorf("%+v", got)
			}
		}
	})
}

// TestChangedOnTheWay sends prompts that reach the model otherwise than they were typed.
func TestChangedOnTheWay(t *testing.T) {
	for asked, said := range map[string]string{
		"  fix   the bug\n": "fix the bug",
		"look at @main.go":  "look at @main.go\n--- Content from referenced files ---\npackage main",
		"be brief":          "The user has set a style.\n\nbe brief",
		"be quick":          "be quick\nToday is Monday.",
	} {
		inWorld(t, func(w *world) {
			s := w.create(thread.NewRequest{})
			p := w.ask(s.ID, asked)
			w.turn(s.ID, said)
			if got := w.answeredBy(p.ID, "answer to "+said); got.Turn != 1 {
				t.Errorf("%q: %+v", asked, got)
			}
			if c, err := w.store.Checkpoint(ctx, w.status(s.ID).Head); err != nil || strings.TrimSpace(c.Prompt) != strings.TrimSpace(asked) {
				t.Errorf("the turn is called %q %v", c.Prompt, err)
			}
		})
	}
}

// TestNobodyGetsAnothersAnswer has the person type while ours is open and nothing came of it.
func TestNobodyGetsAnothersAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		ours := w.ask(s.ID, "fix the bug")
		w.turn(s.ID, "please do not fix the bug")
		w.is(ours.ID, thread.PromptOpen)
		w.turn(s.ID, "fix the bug")
		if p := w.answeredBy(ours.ID, "answer to fix the bug"); p.Turn != 2 {
			t.Errorf("in turn %d", p.Turn)
		}
	})
}

// TestSubAgentMakesNoSecondTurn: an agent goes on by itself when a sub-agent in the background has ended.
func TestSubAgentMakesNoSecondTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		p := w.ask(s.ID, "find it")
		w.turn(s.ID, "find it")
		conv := w.natives.conversation(w.status(s.ID).Session)
		items := append(conv, item("user", "result"))
		answer := item("assistant", "the sub-agent found it")
		w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Prompt: "find it", At: time.Now()})
		w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{Main: true, Status: 200, Items: items, Answer: &answer, Prompt: "find it",
			Text: "the sub-agent found it", EndsTurn: true, Ended: time.Now()})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		turns, err := w.m.History.Timeline(ctx, s.Name, thread.Page{Turns: true})
		if err != nil || len(turns) != 1 || turns[0].Turn != 1 || turns[0].Answer != "the sub-agent found it" {
			t.Errorf("turns %+v %v", turns, err)
		}
		if list, err := w.m.Prompts.List(ctx, s.Name, false); err != nil || len(list) != 1 {
			t.Errorf("prompts %+v %v", list, err)
		}
		w.answeredBy(p.ID, "answer to find it")
		if got := w.status(s.ID); got.Turn != 1 {
			t.Errorf("turn %d", got.Turn)
		}
		again := w.ask(s.ID, "find it") // the same words are another turn when they were said again
		w.natives.append(w.status(s.ID).Session, []thread.Item{item("user", "result"), answer})
		w.turn(s.ID, "find it")
		if p := w.answeredBy(again.ID, "answer to find it"); p.Turn != 2 {
			t.Errorf("asked again in turn %d", p.Turn)
		}
	})
}

// TestAtRest ends prompts that nothing comes of.
func TestAtRest(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		do   func(w *world, id thread.ID)
		want thread.PromptState
	}{
		"a command of the agent's own": {"/clear", func(*world, thread.ID) {}, thread.PromptTaken},
		"nothing at all":               {"fix it", func(*world, thread.ID) {}, thread.PromptRefused},
		"stopped before the answer": {"fix it", func(w *world, id thread.ID) {
			w.m.Traffic.RequestStarted(id, thread.Begun{Main: true, Prompt: "fix it", At: time.Now()})
			w.m.Traffic.ExchangeEnded(id, thread.Exchange{Main: true, Prompt: "fix it", Fault: thread.FaultAgent, Ended: time.Now()})
		}, thread.PromptInterrupted},
		"stopped in the middle": {"fix it", func(w *world, id thread.ID) { w.respond(id, "fix it", "call", false) }, thread.PromptInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.create(thread.NewRequest{})
				p := w.ask(s.ID, c.text)
				next := w.ask(s.ID, "next")
				c.do(w, s.ID)
				w.is(p.ID, thread.PromptOpen)
				w.idle(s.ID)
				time.Sleep(30 * time.Second)
				synctest.Wait()
				if got := w.is(p.ID, c.want); got.Reason == "" || got.Ended.IsZero() {
					t.Errorf("%+v", got)
				}
				if got := w.sess.of(s.ID).prompts(); got != c.text+"\n---\nnext" {
					t.Errorf("sent %q", got)
				}
				w.turn(s.ID, "next")
				w.answeredBy(next.ID, "answer to next")
			})
		})
	}
}

// TestSilentProgramClaimsNothing asks a program that reports nothing: each prompt is typed, also where it looks
// as if it worked, and nothing is claimed of an answer.
func TestSilentProgramClaimsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Agent: "plain", Flags: thread.Flags{NoGateway: true}})
		for _, looks := range []thread.State{"", thread.StateWorking} {
			if looks != "" {
				w.sess.of(s.ID).Report(thread.Evidence{Source: thread.SourceScreen, State: looks, At: time.Now()})
			}
			p := w.is(w.ask(s.ID, "ls").ID, thread.PromptTaken)
			if p.Answer != "" || p.Turn != 0 || p.Reason == "" || p.Opened.IsZero() || p.Ended.IsZero() {
				t.Errorf("where it looks %q: %+v", looks, p)
			}
		}
		if got := w.sess.of(s.ID).prompts(); got != "ls\n---\nls" {
			t.Errorf("sent %q", got)
		}
	})
}

// TestProgramsThatTellAreWaitedFor: what passes the gateway, or is written down by the agent, tells of answers.
func TestProgramsThatTellAreWaitedFor(t *testing.T) {
	for name, r := range map[string]thread.NewRequest{
		"its requests are seen": {Agent: "plain"}, "its transcript is read": {Agent: "polled", Flags: thread.Flags{NoGateway: true}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.agents["polled"] = &polledAgent{fullAgent{plainAgent{"polled"}, w.natives}}
				s := w.create(r)
				w.is(w.ask(s.ID, "ls").ID, thread.PromptOpen)
			})
		})
	}
}

// TestKilledBeforeTheFirstResponse: the prompt of a turn in flight is named everywhere after a kill, can be sent again,
// and is no part of the turn that follows.
func TestKilledBeforeTheFirstResponse(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		cut, waits := w.ask(s.ID, "two words"), w.ask(s.ID, "three")
		w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Prompt: "two words", At: time.Now()})
		synctest.Wait()
		w.crash()
		if p := w.is(cut.ID, thread.PromptInterrupted); p.Reason == "" || p.Text != "two words" {
			t.Errorf("%+v", p)
		}
		w.is(waits.ID, thread.PromptQueued)
		got := w.status(s.ID)
		if got.Resume == nil || len(got.Resume.Prompts) != 2 || got.Resume.Prompts[0].ID != cut.ID || !strings.Contains(got.Resume.Incomplete, string(cut.ID)) {
			t.Errorf("proof %+v", got.Resume)
		}
		if got.Queued != 1 || len(got.Prompts) != 2 {
			t.Errorf("status %d %+v", got.Queued, got.Prompts)
		}
		why, err := w.m.Threads.Why(ctx, s.Name)
		if last := why.Evidence[len(why.Evidence)-2]; err != nil || last.Source != thread.SourcePrompt || !strings.Contains(last.Detail, "two words") {
			t.Errorf("why %+v %v", why, err)
		}
		if _, err := w.m.Prompts.Again(ctx, cut.ID, ""); !errors.Is(err, thread.ErrNotRunning) {
			t.Errorf("again without an agent: %v", err)
		}
		if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.turn(s.ID, "three")
		if p := w.answeredBy(waits.ID, "answer to three"); p.Turn != 2 {
			t.Errorf("in turn %d", p.Turn)
		}
		w.is(cut.ID, thread.PromptInterrupted)
		again, err := w.m.Prompts.Again(ctx, cut.ID, "")
		if err != nil || again.Again != cut.ID || again.Text != cut.Text || again.ID == cut.ID {
			t.Fatalf("again: %+v %v", again, err)
		}
		synctest.Wait()
		w.turn(s.ID, "two words")
		w.answeredBy(again.ID, "answer to two words")
	})
}

// TestKilledWhileItIsTyped: a prompt that was being typed is typed again unless the agent wrote down that it has it.
func TestKilledWhileItIsTyped(t *testing.T) {
	for arrived, want := range map[bool]thread.PromptState{true: thread.PromptInterrupted, false: thread.PromptQueued} {
		inWorld(t, func(w *world) {
			s := w.create(thread.NewRequest{})
			w.turn(s.ID, "one")
			w.sess.of(s.ID).ignore() // it is typed for as long as it likes
			p := w.ask(s.ID, "two \"quoted\" words")
			w.is(p.ID, thread.PromptTyping)
			if arrived {
				w.natives.append(w.status(s.ID).Session, []thread.Item{item("user", p.Text)})
			}
			w.crash()
			if got := w.is(p.ID, want); got.Reason == "" {
				t.Errorf("arrived %v: %+v", arrived, got)
			}
			if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
				t.Fatal(err)
			}
			w.idle(s.ID)
			if sent := w.sess.of(s.ID).prompts(); (sent == "") != arrived {
				t.Errorf("arrived %v: sent %q", arrived, sent)
			}
		})
	}
}

// TestCutTurnIsNoHole kills an agent in the middle of a turn and asks something else: both turns are listed.
func TestCutTurnIsNoHole(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		cut := w.ask(s.ID, "two")
		w.respond(s.ID, "two", "call", false)
		w.sess.of(s.ID).exit(137)
		synctest.Wait()
		if p := w.is(cut.ID, thread.PromptInterrupted); p.Turn != 2 {
			t.Errorf("%+v", p)
		}
		if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		next := w.ask(s.ID, "three")
		w.natives.append(w.status(s.ID).Session, []thread.Item{item("user", "[interrupted]")})
		w.turn(s.ID, "three")
		if p := w.answeredBy(next.ID, "answer to three"); p.Turn != 3 {
			t.Errorf("in turn %d", p.Turn)
		}
		if p := w.is(cut.ID, thread.PromptInterrupted); p.Turn != 2 {
			t.Errorf("the cut one: %+v", p)
		}
		turns, err := w.m.History.Timeline(ctx, s.Name, thread.Page{Turns: true})
		if err != nil || len(turns) != 3 || turns[1].Turn != 2 || !turns[1].Interrupted || turns[1].Prompt != "two" || turns[0].Prompt != "three" {
			t.Errorf("turns %+v %v", turns, err)
		}
	})
}

// TestAgentGoesOnWithACutTurn: what is answered after all is answered.
func TestAgentGoesOnWithACutTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		p := w.ask(s.ID, "two")
		w.respond(s.ID, "two", "call", false)
		w.crash()
		w.is(p.ID, thread.PromptInterrupted)
		if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		w.respond(s.ID, "two", "answer to two", true)
		if got := w.answeredBy(p.ID, "answer to two"); got.Turn != 1 {
			t.Errorf("in turn %d", got.Turn)
		}
	})
}

// TestAutoForkTellsWhichThread: the prompt that forked is the fork's first, at the second turn already.
func TestAutoForkTellsWhichThread(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "store sessions in redis")
		p := w.ask(s.ID, "let's try another approach: signed cookies")
		if p.Thread == s.ID || p.From != thread.FromFirst || w.status(p.Thread).Parent != s.ID {
			t.Fatalf("accepted %+v", p)
		}
		w.turn(p.Thread, p.Text)
		if got := w.answeredBy(p.ID, "answer to "+p.Text); got.Thread != p.Thread {
			t.Errorf("%+v", got)
		}
		if list, err := w.m.Prompts.List(ctx, s.Name, true); err != nil || len(list) != 0 {
			t.Errorf("the parent waits for %+v %v", list, err)
		}
	}, func(w *world) { w.cfg.Offers = thread.OffersAuto })
}

// TestWhatOlderProgramsKept makes prompts of it, once, and tells nothing that was told.
func TestWhatOlderProgramsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "told already")
		w.close()
		for key, value := range map[string]string{"tell moved": "", "tell:" + string(s.ID): `["told already","to be told","and this"]`} {
			if err := w.store.SetSetting(ctx, key, value); err != nil {
				t.Fatal(err)
			}
		}
		w.open()
		w.crash()
		if got := w.status(s.ID); got.Queued != 2 || got.Prompts[0].Text != "to be told" || got.Prompts[1].Text != "and this" {
			t.Fatalf("%d %+v", got.Queued, got.Prompts)
		}
		if v, err := w.store.Setting(ctx, "tell:"+string(s.ID)); v != "" || err != nil {
			t.Errorf("kept %q %v", v, err)
		}
	})
}

// TestFoundWithoutAnAnswer searches for a prompt that nothing has answered.
func TestFoundWithoutAnAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		p := w.ask(s.ID, "polish the Silver spoons")
		hits, err := w.m.History.Find(ctx, "silver polish", 5)
		if err != nil || len(hits) != 1 || hits[0].Prompt != p.ID || hits[0].Thread != s.ID || !strings.Contains(hits[0].Where, "open") {
			t.Errorf("%+v %v", hits, err)
		}
	}, func(w *world) { w.cfg.Finder = noFinder{} })
}

type noFinder struct{}

func (noFinder) Find(context.Context, string, int) ([]thread.Hit, error) { return nil, nil }

func (noFinder) FindFile(context.Context, string, int) ([]thread.Hit, error) { return nil, nil }

// TestRefusedIsNotSentLater has the store take a prompt and its answer be lost: the caller is told that the prompt was
// not sent, so no later server sends it.
func TestRefusedIsNotSentLater(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		w.store.lose(true)
		if _, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: "two"}); !errors.Is(err, thread.ErrUnreachable) {
			t.Fatalf("asked: %v", err)
		}
		w.store.lose(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		w.crash()
		if _, err := w.m.Agents.Start(ctx, s.Name, 80, 24); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if sent := w.sess.of(s.ID).prompts(); strings.Contains(sent, "two") {
			t.Errorf("it was sent: %s", sent)
		}
		open, err := w.store.Prompts(ctx, s.ID, true, 10)
		if err != nil || len(open) > 0 {
			t.Errorf("open: %+v, %v", open, err)
		}
	})
}

// TestTypedIsNotTypedAgain has a dialog open when a prompt is typed and not yet sent: it is in the agent's input, so it
// is not typed a second time.
func TestTypedIsNotTypedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.sess.of(s.ID).fail(fmt.Errorf("%w: %w", thread.ErrTyped, thread.ErrApproval))
		p := w.ask(s.ID, "one")
		time.Sleep(time.Minute)
		synctest.Wait()
		if p := w.is(p.ID, thread.PromptRefused); !strings.Contains(p.Reason, "typed") {
			t.Errorf("it is refused because %q", p.Reason)
		}
		if sent := w.sess.of(s.ID).prompts(); sent != "one" {
			t.Errorf("typed is %q", sent)
		}
	})
}

// TestNotTypedBeforeItIsStored has the store not answer when a queued prompt's turn comes: it is typed once the store
// has it as being typed, as a crash would have it typed again otherwise.
func TestNotTypedBeforeItIsStored(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.ask(s.ID, "one")
		w.ask(s.ID, "two")
		w.store.lose(true)
		w.turn(s.ID, "one")
		time.Sleep(time.Minute)
		synctest.Wait()
		if sent := w.sess.of(s.ID).prompts(); sent != "one" {
			t.Errorf("typed while the store does not answer: %q", sent)
		}
		w.store.lose(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if sent := w.sess.of(s.ID).prompts(); sent != "one\n---\ntwo" {
			t.Errorf("typed once it answers: %q", sent)
		}
	})
}

// TestTypedAFewAtATime has all threads asked at once while their agents take nothing: a few are typed, the others wait
// queued, where they can be withdrawn, and come next in their order when those before them have had their share.
func TestTypedAFewAtATime(t *testing.T) {
	inWorld(t, func(w *world) {
		const all, few = 11, 4
		w.sess.ignore(true)
		var ids []thread.ID
		for range all {
			ids = append(ids, w.create(thread.NewRequest{}).ID)
		}
		synctest.Wait()
		var asked []thread.Prompt
		for _, id := range ids {
			asked = append(asked, w.ask(id, "go on"))
		}
		typing := func(from, to int) {
			t.Helper()
			for i, p := range asked {
				want := thread.PromptQueued
				if i >= from && i < to || i < from {
					want = thread.PromptTyping
				}
				if i == all-1 && to > few {
					want = thread.PromptCancelled
				}
				w.is(p.ID, want)
			}
		}
		typing(0, few)
		if p := w.is(asked[few].ID, thread.PromptQueued); !strings.Contains(p.Reason, "other threads") {
			t.Errorf("the next waits because %q", p.Reason)
		}
		if _, err := w.m.Prompts.Cancel(ctx, asked[all-1].ID); err != nil {
			t.Errorf("cancel the last: %v", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		typing(few, 2*few)
		time.Sleep(time.Second)
		synctest.Wait()
		typing(2*few, all-1)
	})
}
