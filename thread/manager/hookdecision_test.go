package manager_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// deciderAgent is an agent whose hook "asks" may answer a dialog about the hook's payload.
type deciderAgent struct{ plainAgent }

func (a *deciderAgent) ReadAsk(event string, payload []byte) (thread.HookAsk, bool) {
	return thread.HookAsk{
		About: func(q thread.Question) bool { return q.About == string(payload) },
		Says:  map[thread.Meaning][]byte{thread.Approve: []byte("yes"), thread.Deny: []byte("no")},
	}, event == "asks"
}

// TestAnswerByHook: a hook that waits answers its question, and no key does; a key does where no hook can.
func TestAnswerByHook(t *testing.T) {
	inWorld(t, func(w *world) {
		w.agents["decider"] = &deciderAgent{plainAgent{"decider"}}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s := w.create(thread.NewRequest{Agent: "decider"})
		if w.m.Traffic.Asked(s.ID, "Stop", []byte("rm x")) != nil || w.m.Traffic.Asked("none", "asks", nil) != nil {
			t.Error("a hook waits that asks nothing")
		}
		p := w.sess.of(s.ID)
		asks := func(id, about string) {
			p.mu.Lock()
			p.state = thread.StateReport{State: thread.StateApproval, Question: &thread.Question{
				ID: id, About: about, Choices: []thread.Choice{{Text: "Yes", Means: thread.Approve}, {Text: "Always", Means: thread.ApproveAlways}, {Text: "No", Means: thread.Deny}},
			}}
			r := p.state
			p.mu.Unlock()
			p.spec.OnState(r)
		}
		said := make(chan string, 1)
		waits := func(about string) {
			wait := w.m.Traffic.Asked(s.ID, "asks", []byte(about))
			go func() { said <- string(wait(ctx)) }()
			synctest.Wait()
		}
		answer := func(r thread.AnswerRequest) error {
			_, err := w.m.Questions.Answer(ctx, s.Name, r)
			return err
		}
		for i, c := range []struct {
			hook, about string
			r           thread.AnswerRequest
			said        string
			keys        int // the choices that were pressed so far
		}{
			{"rm x", "rm x", thread.AnswerRequest{Means: thread.Approve}, "yes", 0},
			{"rm x", "rm x", thread.AnswerRequest{Means: thread.Deny}, "no", 0},
			{"rm x", "rm x", thread.AnswerRequest{Choice: 3}, "no", 0},
			{"rm x", "rm x", thread.AnswerRequest{Means: thread.ApproveAlways}, "", 1},
			{"rm x", "rm y", thread.AnswerRequest{Means: thread.Approve}, "", 2},
		} {
			id := string(rune('a' + i))
			waits(c.hook)
			asks(id, c.about)
			c.r.Question = "older"
			if err := answer(c.r); err == nil {
				t.Errorf("%d: a question before was answered", i)
			}
			c.r.Question = id
			if err := answer(c.r); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			p.Report(thread.Evidence{State: thread.StateWorking})
			if got := <-said; got != c.said {
				t.Errorf("%d: the hook says %q, want %q", i, got, c.said)
			}
			if len(p.chosen) != c.keys {
				t.Errorf("%d: pressed: %v", i, p.chosen)
			}
		}
		asks("z", "rm z")
		p.exit(0)
		synctest.Wait()
		waits("rm z") // of no dialog that is still shown
		select {
		case got := <-said:
			if got != "" {
				t.Errorf("after its agent's end the hook says %q", got)
			}
		case <-time.After(time.Hour):
			t.Error("a hook waits for a dialog of an agent that has ended")
		}
	})
}
