package manager_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// asked sends a prompt and returns it as it is once it was typed.
func (w *world) asked(id thread.ID, text string) thread.Prompt {
	w.t.Helper()
	p, err := w.m.Prompts.Ask(ctx, string(id), thread.AskRequest{Text: text})
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return w.prompt(p.ID)
}

// TestATurnAroundTheGateway has an agent with a route ask its model elsewhere: what its transcript tells is recorded as
// its turn, however late it is written, and it is said; turns that come through the gateway are not recorded twice.
func TestATurnAroundTheGateway(t *testing.T) {
	for name, tc := range map[string]struct {
		late   time.Duration // from the end of the turn until it is written
		before bool          // a turn came through the gateway before
		wrote  []thread.Item
		state  thread.PromptState
	}{
		"at once":          {0, false, []thread.Item{item("user", "hi"), item("assistant", "hello")}, thread.PromptAnswered},
		"late":             {3500 * time.Millisecond, false, []thread.Item{item("user", "hi"), item("assistant", "hello")}, thread.PromptAnswered},
		"after another":    {0, true, []thread.Item{item("user", "hi"), item("assistant", "hello")}, thread.PromptAnswered},
		"of two responses": {0, true, []thread.Item{item("user", "hi"), item("assistant", "call"), item("assistant", "hello")}, thread.PromptAnswered},
		"nothing":          {0, true, nil, thread.PromptRefused},
		"something else":   {0, true, []thread.Item{item("user", "another"), item("assistant", "no")}, thread.PromptRefused},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.agents["polled"] = &polledAgent{fullAgent{plainAgent{"polled"}, w.natives}}
				s := w.create(thread.NewRequest{Agent: "polled"})
				turns := 0
				if tc.before {
					w.respond(s.ID, "first", "one", true)
					w.m.Traffic.Hook(s.ID, "Stop", nil)
					synctest.Wait()
					turns++
				}
				p := w.asked(s.ID, "hi")
				w.m.Traffic.Hook(s.ID, "UserPromptSubmit", []byte(`{"prompt":"hi"}`))
				synctest.Wait()
				w.m.Traffic.Hook(s.ID, "Stop", nil)
				synctest.Wait()
				time.Sleep(tc.late)
				w.natives.append(s.Session, tc.wrote)
				time.Sleep(25 * time.Second)
				synctest.Wait()
				if p = w.prompt(p.ID); p.State != tc.state {
					t.Fatalf("the prompt is %s (%s)", p.State, p.Reason)
				}
				why, err := w.m.Threads.Why(ctx, string(s.ID))
				if err != nil {
					t.Fatal(err)
				}
				got, noted := w.status(s.ID), strings.Contains(strings.Join(why.Notes, "\n"), "do not come through the gateway")
				if tc.state != thread.PromptAnswered {
					if got.Turn != turns || got.Around || noted {
						t.Errorf("turn %d, around %v, notes %q", got.Turn, got.Around, why.Notes)
					}
					return
				}
				turns++
				if got.Turn != turns || p.Turn != turns || got.Gauge.Source != "transcript" || got.Usage.Output == 0 || !got.Around || !noted {
					t.Errorf("turn %d, prompt of %d, gauge %+v, usage %+v, around %v, notes %q", got.Turn, p.Turn, got.Gauge, got.Usage, got.Around, why.Notes)
				}
				w.respond(s.ID, "through", "again", true)
				w.m.Traffic.Hook(s.ID, "Stop", nil)
				time.Sleep(25 * time.Second)
				synctest.Wait()
				if got := w.status(s.ID); got.Turn != turns+1 || got.Around {
					t.Errorf("once it comes through the gateway: turn %d, around %v", got.Turn, got.Around)
				}
			}, func(w *world) { w.cfg.Models = oneModel{} })
		})
	}
}

// TestATurnWithoutTheGateway has an agent without a route write its answer down later than it says that it is done: the
// turn is recorded, and the prompt is answered by it, however late.
func TestATurnWithoutTheGateway(t *testing.T) {
	answer := []thread.Item{item("user", "hi"), item("assistant", "hello")}
	for name, tc := range map[string]struct {
		late  time.Duration
		typed bool // by the person in its pane
		wrote []thread.Item
		state thread.PromptState
	}{
		"at once":                  {0, false, answer, thread.PromptAnswered},
		"a moment later":           {100 * time.Millisecond, false, answer, thread.PromptAnswered},
		"late":                     {3500 * time.Millisecond, false, answer, thread.PromptAnswered},
		"just in time":             {18 * time.Second, false, answer, thread.PromptAnswered},
		"of two responses":         {time.Second, false, append([]thread.Item{item("user", "hi"), item("assistant", "call")}, answer[1]), thread.PromptAnswered},
		"after something else":     {time.Second, false, append([]thread.Item{item("user", "x"), item("assistant", "y")}, answer...), thread.PromptAnswered},
		"nothing":                  {0, false, nil, thread.PromptRefused},
		"typed, and a moment late": {100 * time.Millisecond, true, answer, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.agents["polled"] = &polledAgent{fullAgent{plainAgent{"polled"}, w.natives}}
				s := w.create(thread.NewRequest{Agent: "polled", Flags: thread.Flags{NoGateway: true}})
				var p thread.Prompt
				if !tc.typed {
					p = w.asked(s.ID, "hi")
				}
				w.m.Traffic.Hook(s.ID, "UserPromptSubmit", []byte(`{"prompt":"hi"}`))
				synctest.Wait()
				w.m.Traffic.Hook(s.ID, "Stop", nil)
				synctest.Wait()
				time.Sleep(tc.late)
				w.natives.append(s.Session, tc.wrote)
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if tc.state == thread.PromptRefused {
					time.Sleep(20 * time.Second)
					synctest.Wait()
				}
				if got := w.status(s.ID); tc.wrote != nil && (got.Turn == 0 || got.Gauge.Source != "transcript" || got.Usage.Output == 0) {
					t.Errorf("turn %d, gauge %+v, usage %+v", got.Turn, got.Gauge, got.Usage)
				}
				if tc.typed {
					return
				}
				if p = w.prompt(p.ID); p.State != tc.state {
					t.Errorf("the prompt is %s (%s)", p.State, p.Reason)
				}
			}, func(w *world) { w.cfg.Models = oneModel{} })
		})
	}
}

// findingAgent tells nobody of its session; it can be found by where it was started.
type findingAgent struct {
	polledAgent
	session string
	spec    thread.FindSpec
}

func (a *findingAgent) Launch(c context.Context, s thread.LaunchSpec) (thread.Launch, error) {
	l, err := a.polledAgent.Launch(c, s)
	l.Session = ""
	return l, err
}

func (a *findingAgent) FindSession(_ context.Context, spec thread.FindSpec) (string, error) {
	a.spec = spec
	return a.session, nil
}

// TestASessionThatNobodyTellsOf has an agent without a route whose session only its model is told of: it is found, and its
// turn is recorded.
func TestASessionThatNobodyTellsOf(t *testing.T) {
	inWorld(t, func(w *world) {
		a := &findingAgent{polledAgent: polledAgent{fullAgent{plainAgent{"polled"}, w.natives}}}
		w.agents["polled"] = a
		s := w.create(thread.NewRequest{Agent: "polled", Flags: thread.Flags{NoGateway: true}})
		p := w.asked(s.ID, "hi")
		a.session = "0123-found"
		w.natives.append(a.session, []thread.Item{item("user", "hi"), item("assistant", "hello")})
		w.m.Traffic.Hook(s.ID, "UserPromptSubmit", []byte(`{"prompt":"hi"}`))
		synctest.Wait()
		w.m.Traffic.Hook(s.ID, "Stop", nil)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if p, got := w.prompt(p.ID), w.status(s.ID); p.State != thread.PromptAnswered || got.Turn != 1 || got.Session != a.session {
			t.Errorf("the prompt is %s (%s); turn %d of session %q", p.State, p.Reason, got.Turn, got.Session)
		}
		if a.spec.Dir != s.Dir || a.spec.StateDir == "" || a.spec.Since.IsZero() || a.spec.Rivals || !slices.Equal(a.spec.Prompts, []string{"hi"}) {
			t.Errorf("it was looked for by %+v", a.spec)
		}
		if a.spec.Taken(a.session) || a.spec.Taken("0123-other") {
			t.Error("a session is said to be another's")
		}
		rival := w.create(thread.NewRequest{Agent: "polled", Flags: thread.Flags{NoGateway: true}})
		a.session = "4567-found"
		w.natives.append(a.session, []thread.Item{item("user", "typed"), item("assistant", "hello")})
		w.m.Traffic.Hook(rival.ID, "Stop", nil)
		synctest.Wait()
		if a.spec.Rivals || len(a.spec.Prompts) > 0 || !a.spec.Taken("0123-found") || w.status(rival.ID).Session != a.session {
			t.Errorf("another in the same folder is looked for by %+v", a.spec)
		}
		a.session = ""
		first, last := w.create(thread.NewRequest{Agent: "polled", Flags: thread.Flags{NoGateway: true}}), w.create(thread.NewRequest{Agent: "polled", Flags: thread.Flags{NoGateway: true}})
		a.session = "8901-found"
		w.natives.append(a.session, []thread.Item{item("user", "typed"), item("assistant", "bye")})
		w.sess.of(last.ID).exit(0)
		synctest.Wait()
		if !a.spec.Rivals || w.status(last.ID).Turn != 1 || w.status(first.ID).Turn != 0 {
			t.Errorf("one that left: turn %d; looked for by %+v", w.status(last.ID).Turn, a.spec)
		}
	}, func(w *world) { w.cfg.Models = oneModel{} })
}

// TestAPromptThatEndsTheAgent sends what ends the agent: it was sent, and no resume types it again.
func TestAPromptThatEndsTheAgent(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		fails error // of typing it
		state thread.PromptState
	}{
		"a command, while it is seen":    {"/exit", fmt.Errorf("%w: %w", thread.ErrSent, thread.ErrNotRunning), thread.PromptTaken},
		"a command, later":               {"/quit", nil, thread.PromptTaken},
		"a word":                         {"exit", fmt.Errorf("%w: %w", thread.ErrSent, thread.ErrNotRunning), thread.PromptInterrupted},
		"a word, later":                  {":q", nil, thread.PromptInterrupted},
		"a prompt":                       {"fix it", fmt.Errorf("%w: %w", thread.ErrSent, thread.ErrNotRunning), thread.PromptInterrupted},
		"a prompt that was not sent yet": {"fix it", fmt.Errorf("press: %w", thread.ErrNotRunning), thread.PromptQueued},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.create(thread.NewRequest{})
				w.turn(s.ID, "one")
				agent := w.sess.of(s.ID)
				agent.fail(tc.fails)
				p := w.asked(s.ID, tc.text)
				agent.exit(0)
				synctest.Wait()
				if p = w.prompt(p.ID); p.State != tc.state {
					t.Errorf("%q is %s (%s)", tc.text, p.State, p.Reason)
				}
				if _, err := w.m.Agents.Start(ctx, string(s.ID), 80, 24); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				time.Sleep(time.Minute)
				synctest.Wait()
				if again := strings.Contains(w.sess.of(s.ID).prompts(), tc.text); again != (tc.state == thread.PromptQueued) {
					t.Errorf("typed again: %v", again)
				}
			})
		})
	}
}

// TestAnOutgrownPromptMoves follows a prompt that does not fit into its thread's context any more.
func TestAnOutgrownPromptMoves(t *testing.T) {
	for _, failed := range []bool{false, true} {
		inWorld(t, func(w *world) {
			s := w.create(thread.NewRequest{})
			w.talk(s.ID, 1, 2)
			p := w.asked(s.ID, "and now the last step")
			w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, At: time.Now(), Prompt: p.Text})
			if failed {
				w.sess.mu.Lock()
				w.sess.refuse = thread.ErrUnsupported
				w.sess.mu.Unlock()
			}
			w.m.Offers.Outgrown(s.ID, p.Text)
			w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{Main: true, Status: 400, Err: "it goes on in a fork", Started: time.Now(), Ended: time.Now(), Prompt: p.Text})
			w.m.Traffic.Hook(s.ID, "Stop", nil)
			synctest.Wait()
			time.Sleep(time.Minute)
			synctest.Wait()
			p = w.prompt(p.ID)
			list, err := w.m.Threads.List(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if failed {
				if p.State == thread.PromptMoved && p.Fork == "" || p.State == thread.PromptOpen {
					t.Errorf("the fork failed, and it is %s (%s), %d threads", p.State, p.Reason, len(list))
				}
				return
			}
			if p.State != thread.PromptMoved || len(list) != 2 || p.Fork != list[1].ID || p.State.Again() {
				t.Errorf("it is %s (%s) in %q, %d threads", p.State, p.Reason, p.Fork, len(list))
			}
			all, err := w.m.Prompts.List(ctx, string(s.ID), false)
			if err != nil || len(all) == 0 || all[len(all)-1].ID != p.ID {
				t.Errorf("rows %+v, %v", all, err)
			}
		}, func(w *world) { w.cfg.Offers = thread.OffersAuto })
	}
}
