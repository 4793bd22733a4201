package manager_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// reopen ends the server as a person does, who does not wait for what an agent may yet take, and
// starts the next.
func (w *world) reopen() {
	w.t.Helper()
	begin := time.Now()
	w.close()
	if took := time.Since(begin); took > time.Second {
		w.t.Errorf("the end took %v", took)
	}
	w.open()
}

// TestEndWhileAnAgentIsTold ends the server, kindly and not, while the parent of a merge does not take
// what it is told: its next run is told it, once.
func TestEndWhileAnAgentIsTold(t *testing.T) {
	for name, end := range map[string]func(*world){"stop": (*world).reopen, "kill": (*world).crash} {
		t.Run(name, func(t *testing.T) {
			inMerge(t, func(w *world, _ *merges, p, c thread.Status) {
				deaf := w.sess.of(p.ID)
				deaf.ignore()
				if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Note: thread.NoteAlways}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				end(w)
				if told := deaf.prompts(); told != "" {
					t.Fatalf("told at the end: %q", told)
				}
				if _, err := w.m.Agents.Start(ctx, p.Name, 0, 0); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					w.m.Traffic.Hook(p.ID, "SessionStart", nil)
					synctest.Wait()
				}
				if told := w.sess.of(p.ID).prompts(); strings.Count(told, "For your information") != 1 || !strings.Contains(told, c.Name) {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

// TestToldBeforeTheKill kills the server between the agent's answer to what it was told and the note
// that it was: it is not told again.
func TestToldBeforeTheKill(t *testing.T) {
	inMerge(t, func(w *world, _ *merges, p, c thread.Status) {
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Note: thread.NoteAlways}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		told := w.sess.of(p.ID).prompts()
		waiting, err := w.store.Setting(ctx, "tell:"+string(p.ID))
		if told == "" || waiting != "" || err != nil {
			t.Fatalf("told %q, waiting %q, %v", told, waiting, err)
		}
		list, err := json.Marshal([]string{told})
		if err != nil {
			t.Fatal(err)
		}
		w.turn(p.ID, told)
		w.crash()
		if err := w.store.SetSetting(ctx, "tell:"+string(p.ID), string(list)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Agents.Start(ctx, p.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		w.m.Traffic.Hook(p.ID, "SessionStart", nil)
		synctest.Wait()
		if again := w.sess.of(p.ID).prompts(); again != "" {
			t.Errorf("told again: %q", again)
		}
	})
}

// TestEndBeforeTheFirstPrompt ends the server while a new agent does not take its first prompt yet.
func TestEndBeforeTheFirstPrompt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sess.ignore(true)
		s := w.create(thread.NewRequest{Prompt: "look around"})
		w.reopen()
		w.sess.ignore(false)
		if _, err := w.m.Agents.Start(context.Background(), s.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		w.m.Traffic.Hook(s.ID, "SessionStart", nil)
		synctest.Wait()
		if told := w.sess.of(s.ID).prompts(); told != "look around" {
			t.Errorf("told %q", told)
		}
	})
}

// TestFirstPromptWaitsForADialog: an agent asks whether to trust the folder before it takes its first
// prompt. The prompt is sent once, after the answer, and survives a stop and a kill before it.
func TestFirstPromptWaitsForADialog(t *testing.T) {
	asked := func(w *world) thread.Status {
		w.sess.asking(true)
		s := w.create(thread.NewRequest{Prompt: "look around"})
		synctest.Wait()
		if told := w.sess.of(s.ID).prompts(); told != "" {
			t.Fatalf("told %q into the dialog", told)
		}
		return s
	}
	t.Run("answered", func(t *testing.T) {
		inWorld(t, func(w *world) {
			s := asked(w)
			for range 2 {
				w.sess.of(s.ID).Report(thread.Evidence{Source: thread.SourceHook, State: thread.StateIdle, At: time.Now()})
				synctest.Wait()
			}
			if told := w.sess.of(s.ID).prompts(); told != "look around" {
				t.Errorf("told %q", told)
			}
			if waiting, err := w.store.Setting(ctx, "tell:"+string(s.ID)); waiting != "" || err != nil {
				t.Errorf("still to be told: %q %v", waiting, err)
			}
		})
	})
	for name, end := range map[string]func(*world){"stop": (*world).reopen, "kill": (*world).crash} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := asked(w)
				end(w)
				w.sess.asking(false)
				if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
					t.Fatal(err)
				}
				w.m.Traffic.Hook(s.ID, "SessionStart", nil)
				synctest.Wait()
				if told := w.sess.of(s.ID).prompts(); told != "look around" {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

// TestNotIdleBeforeItsFirstPrompt: an agent that waits for its first prompt is not shown idle: who waits for idle
// waits for the answer.
func TestNotIdleBeforeItsFirstPrompt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sess.ignore(true) // the prompt is being typed for as long as it likes
		s := w.create(thread.NewRequest{Prompt: "look around"})
		w.sess.of(s.ID).Report(thread.Evidence{Source: thread.SourceHook, State: thread.StateIdle, At: time.Now()})
		synctest.Wait()
		if got := w.status(s.ID).State.State; got != thread.StateStarting {
			t.Errorf("shown as %s", got)
		}
		time.Sleep(5 * time.Minute) // virtual: it is given up
		synctest.Wait()
		if got := w.status(s.ID).State.State; got != thread.StateIdle && got != thread.StateDone {
			t.Errorf("shown as %s when nothing is typed any more", got)
		}
	})
}
