package thread_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
)

// TestResumedInAnothersSession has an agent open the session of another thread, as its own command for that does: the
// turn is its thread's, forks at it have it, and the owner goes on from its own record.
func TestResumedInAnothersSession(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.create(thread.NewRequest{}), w.create(thread.NewRequest{})
		w.turn(a.ID, "of a")
		w.turn(b.ID, "of b")
		owned := w.status(b.ID).Session
		if err := w.m.StopAgent(ctx, b.Name); err != nil {
			t.Fatal(err)
		}
		w.m.Hook(a.ID, "SessionStart", []byte(fmt.Sprintf(`{"session_id":%q}`, owned)))
		synctest.Wait()
		p := w.ask(a.ID, "said in it")
		w.turn(a.ID, "said in it")
		if got := w.answeredBy(p.ID, "answer to said in it"); got.Turn != 2 {
			t.Errorf("in turn %d", got.Turn)
		}
		f, err := w.m.Fork(ctx, thread.ForkRequest{Thread: a.Name, At: "2", Label: "at the turn"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := texts(w.natives.conversation(w.status(f.ID).Session)); !strings.Contains(got, "answer to said in it") {
			t.Errorf("the fork has %s", got)
		}
		if _, err := w.m.Resume(ctx, b.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got := w.status(b.ID).Session
		if conv := texts(w.natives.conversation(got)); got == owned || strings.Contains(conv, "said in it") || !strings.Contains(conv, "answer to of b") {
			t.Errorf("the owner goes on in %s with %s", got, conv)
		}
		w.turn(b.ID, "b again")
		head, err := w.store.Conversation(ctx, w.status(b.ID).Head)
		if err != nil || strings.Contains(texts(head), "said in it") || w.status(b.ID).Turn != 2 {
			t.Errorf("the owner's record has %s %v", texts(head), err)
		}
	})
}
