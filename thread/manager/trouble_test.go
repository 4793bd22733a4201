package manager_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// TestFailuresAreNamed: each way in which a request can fail has a word of its own.
func TestFailuresAreNamed(t *testing.T) {
	end := time.Now().Add(time.Hour)
	half := item("assistant", "half an ans")
	for _, c := range []struct {
		name string
		e    thread.Exchange
		want thread.State
	}{
		{"401", thread.Exchange{Status: 401, Err: "no"}, thread.StateUnauthorised},
		{"403", thread.Exchange{Status: 403, Err: "no"}, thread.StateUnauthorised},
		{"402", thread.Exchange{Status: 402, Err: "no"}, thread.StateLimited},
		{"429", thread.Exchange{Status: 429, Err: "no", Until: end}, thread.StateLimited},
		{"529", thread.Exchange{Status: 529, Err: "no"}, thread.StateLimited},
		{"500", thread.Exchange{Status: 500, Err: "no"}, thread.StateUnavailable},
		{"400", thread.Exchange{Status: 400, Err: "no"}, thread.StateFailed},
		{"a redirect", thread.Exchange{Status: 302}, thread.StateFailed},
		{"no connection", thread.Exchange{Err: "no", Interrupted: true, Fault: thread.FaultUnreachable}, thread.StateUnreachable},
		{"no answer", thread.Exchange{Err: "EOF", Interrupted: true, Fault: thread.FaultCut}, thread.StateUnavailable},
		{"a page", thread.Exchange{Status: 200, Err: "no JSON", Interrupted: true, Fault: thread.FaultNoAnswer}, thread.StateUnavailable},
		{"a limit inside", thread.Exchange{Status: 200, Err: "overloaded", Interrupted: true, Fault: thread.FaultLimited}, thread.StateLimited},
		{"a refusal inside", thread.Exchange{Status: 200, Err: "who?", Fault: thread.FaultUnauthorised}, thread.StateUnauthorised},
		{"an error inside", thread.Exchange{Status: 200, Err: "what?", Fault: thread.FaultError}, thread.StateFailed},
		{"cut before its first word", thread.Exchange{Status: 200, Err: "cut", Interrupted: true, Fault: thread.FaultCut}, thread.StateCut},
		{"cut in the middle", thread.Exchange{Status: 200, Err: "cut", Interrupted: true, Fault: thread.FaultCut, Answer: &half}, thread.StateCut},
		{"given up by the agent", thread.Exchange{Err: "left", Interrupted: true, Fault: thread.FaultAgent}, thread.StateUnknown},
		{"given up in the middle", thread.Exchange{Status: 200, Err: "left", Interrupted: true, Fault: thread.FaultAgent, Answer: &half}, thread.StateUnknown},
		{"an empty answer", thread.Exchange{Status: 200, EndsTurn: true, Stop: "end_turn"}, thread.StateIdle},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.create(thread.NewRequest{})
				began := time.Now()
				time.Sleep(time.Millisecond)
				e := c.e
				e.Main, e.Started, e.Ended = true, began, time.Now()
				time.Sleep(time.Second) // told late
				w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Model: "m1", At: began})
				w.m.Traffic.ExchangeEnded(s.ID, e)
				synctest.Wait()
				heard := w.sess.of(s.ID).heard
				if len(heard) != 2 || !heard[0].At.Equal(e.Started) || !heard[1].At.Equal(e.Ended) {
					t.Fatalf("told: %+v", heard)
				}
				if got := heard[1]; got.State != c.want || got.Detail == "" || !got.Until.Equal(e.Until) {
					t.Errorf("%s: %s until %v", got.State, got.Detail, got.Until)
				}
			})
		})
	}
}

// TestTroubleIsToldOnce: however often the agent tries again, people hear of it once, and once more when it began again.
func TestTroubleIsToldOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		if err := w.m.Lifecycle.Seen(ctx, string(s.ID)); err != nil {
			t.Fatal(err)
		}
		p := w.sess.of(s.ID)
		limited := thread.StateReport{State: thread.StateLimited, Until: time.Now().Add(90 * time.Minute), Evidence: []thread.Evidence{{Detail: "status 429"}}}
		retrying, stuck := limited, limited
		retrying.Retrying, stuck.Stuck = true, true
		for _, r := range []thread.StateReport{
			limited, retrying, {State: thread.StateUnavailable, Retrying: true}, retrying, {State: thread.StateWorking}, {State: thread.StateUnreachable}, stuck,
		} {
			p.spec.OnState(r)
			synctest.Wait()
		}
		told := w.events.notices()
		if n := strings.Count(told, "rate limited by the provider until"); n != 1 || strings.Contains(told, "the provider is failing") || strings.Count(told, "cannot be reached") != 1 {
			t.Errorf("told:\n%s", told)
		}
		got := w.status(s.ID)
		if !got.State.Stuck || !got.State.NeedsPerson() || got.Seen || !got.State.Until.Equal(limited.Until) {
			t.Errorf("%+v, seen %v", got.State, got.Seen)
		}
	})
}

// TestHowItEnded: a process that ends by itself has exited, with its code and last words; one that was killed or ended
// in the middle of a turn was interrupted. A new server knows it too.
func TestHowItEnded(t *testing.T) {
	for _, c := range []struct {
		name   string
		before thread.State // "" is none
		exit   thread.Exit
		want   thread.State
		detail string
	}{
		{"at its start", "", thread.Exit{Code: 1, Reason: "exited", Screen: "unknown option '--fast'"}, thread.StateExited, "exited with code 1: unknown option '--fast'"},
		{"in its question", thread.StateApproval, thread.Exit{Code: 1, Reason: "exited"}, thread.StateExited, "exited with code 1"},
		{"idle", thread.StateIdle, thread.Exit{Code: 3, Reason: "exited"}, thread.StateExited, "exited with code 3"},
		{"well", thread.StateIdle, thread.Exit{Reason: "exited"}, thread.StateExited, "exited with code 0"},
		{"after Ctrl+C", thread.StateIdle, thread.Exit{Code: 130, Reason: "exited"}, thread.StateExited, "exited with code 130"},
		{"with an HTTP status", thread.StateIdle, thread.Exit{Code: 401 % 256, Reason: "exited"}, thread.StateExited, "exited with code 145"},
		{"at work", thread.StateWorking, thread.Exit{Code: 1, Reason: "exited", Screen: "a\npanic: x"}, thread.StateInterrupted, "exited with code 1: panic: x"},
		{"killed", thread.StateIdle, thread.Exit{Code: 137, Reason: "exited"}, thread.StateInterrupted, "ended by signal 9"},
		{"a limit", thread.StateIdle, thread.Exit{Code: 137, Reason: "too many processes", Limit: true}, thread.StateInterrupted, "too many processes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.create(thread.NewRequest{})
				p := w.sess.of(s.ID)
				if c.before != "" {
					p.spec.OnState(thread.StateReport{State: c.before})
				}
				p.spec.OnState(thread.StateReport{State: thread.StateExited}) // the session tells it first
				p.spec.OnExit(c.exit)
				synctest.Wait()
				for range 2 {
					got := w.status(s.ID)
					if got.State.State != c.want || got.State.Why() != c.detail || got.Exit.Screen != c.exit.Screen {
						t.Errorf("%s: %s; %+v", got.State.State, got.State.Why(), got.Exit)
					}
					w.crash()
				}
				if _, err := w.m.Agents.Start(ctx, string(s.ID), 80, 24); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := w.status(s.ID); got.Exit != (thread.Exit{}) || got.State.State != thread.StateStarting {
					t.Errorf("started again: %+v %s", got.Exit, got.State.State)
				}
			})
		})
	}
}

// TestSecretsOnTheLastScreen: what an agent printed before it failed is kept without the keys in it.
func TestSecretsOnTheLastScreen(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		key := "sk-ant-api03-" + strings.Repeat("Ab3", 30)
		w.sess.of(s.ID).spec.OnExit(thread.Exit{Code: 1, Reason: "exited", Screen: "bad key " + key})
		synctest.Wait()
		if got := w.status(s.ID); strings.Contains(got.Exit.Screen+got.State.Why(), key) || !strings.Contains(got.Exit.Screen, "bad key") {
			t.Errorf("%q", got.Exit.Screen)
		}
	})
}

// TestRepliesAreNumbered: a reply can be told from the events before and after it, of a later server too.
func TestRepliesAreNumbered(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		reply, err := w.m.Threads.Status(ctx, string(s.ID))
		if err != nil || reply.Seq != w.m.Threads.Seq() {
			t.Fatalf("%d, and the newest event is %d: %v", reply.Seq, w.m.Threads.Seq(), err)
		}
		w.turn(s.ID, "p1")
		e := w.events.list[len(w.events.list)-1]
		for i := len(w.events.list) - 1; e.Status == nil; i-- {
			e = w.events.list[i]
		}
		if e.Status.Seq <= reply.Seq {
			t.Errorf("the event after it has %d, the reply %d", e.Status.Seq, reply.Seq)
		}
		time.Sleep(time.Second)
		before := w.m.Threads.Seq()
		w.crash()
		if got := w.status(s.ID).Seq; got <= before {
			t.Errorf("after a restart %d, before it %d", got, before)
		}
	})
}

// TestPromptsWaitForALimit: what is asked while a limit stands is typed when it ends, by itself; and with the setting,
// what the limit refused is asked again.
func TestPromptsWaitForALimit(t *testing.T) {
	for _, own := range []bool{false, true} {
		inWorld(t, func(w *world) {
			s := w.create(thread.NewRequest{})
			p := w.sess.of(s.ID)
			p.spec.OnState(thread.StateReport{State: thread.StateIdle})
			first, err := w.m.Prompts.Ask(ctx, string(s.ID), thread.AskRequest{Text: "refused"})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, At: time.Now()})
			w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{Main: true, Status: 429, Err: "slow down", Started: time.Now(), Ended: time.Now(), Prompt: "refused"})
			limited := thread.StateReport{State: thread.StateLimited, Stuck: true, Until: time.Now().Add(time.Hour).Round(0), Since: time.Now()}
			p.spec.OnState(limited)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			told := w.events.notices()
			if own != strings.Contains(told, "will be resent then") || !own && !strings.Contains(told, "prompts again "+string(first.ID)) {
				t.Errorf("told:\n%s", told)
			}
			if !own {
				again, err := w.m.Prompts.Again(ctx, first.ID, "")
				if err != nil || again.State != thread.PromptQueued || !strings.Contains(again.Reason, "rate limited until") {
					t.Errorf("%+v %v", again, err)
				}
			}
			time.Sleep(59 * time.Minute)
			synctest.Wait()
			if got := p.prompts(); got != "refused" {
				t.Errorf("before the end: %q", got)
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if got := p.prompts(); got != "refused\n---\nrefused" {
				t.Errorf("after it: %q", got)
			}
		}, func(w *world) { w.cfg.Limits.Continue = own })
	}
}
