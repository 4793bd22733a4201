package manager_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// meter counts what is held of exchanges.
type meter struct {
	mu   sync.Mutex // guards held
	held int64
}

func (m *meter) keep(n int64) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held += n
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.held -= n
	})
}

func (m *meter) bytes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// ended is an answer that ended a turn at a time.
func (w *world) ended(id thread.ID, n int, at time.Time, m *meter) {
	prompt := fmt.Sprint("prompt ", n)
	answer := item("assistant", "noted")
	w.m.Traffic.ExchangeEnded(id, thread.Exchange{
		Main: true, Model: "m1", Session: w.status(id).Session, Status: 200, Started: at, Ended: at, Prompt: prompt,
		Items: []thread.Item{item("user", prompt)}, Answer: &answer, Text: "noted", Stop: "end_turn", EndsTurn: true,
		Bytes: 1 << 20, Keep: m.keep,
	})
}

func TestWhatIsHeldIsGivenBackWhenItIsStored(t *testing.T) {
	inWorld(t, func(w *world) {
		s, m := w.create(thread.NewRequest{}), &meter{}
		w.ended(s.ID, 1, time.Now(), m)
		synctest.Wait()
		if n := m.bytes(); n != 0 || w.status(s.ID).Turn != 1 {
			t.Errorf("after storing %d bytes are held, turn %d", n, w.status(s.ID).Turn)
		}
		w.store.fail(thread.ErrDiskFull)
		for i := range 5 {
			w.ended(s.ID, 2+i, time.Now(), m)
		}
		synctest.Wait()
		if n := m.bytes(); n < 5<<10 || n > 10<<10 {
			t.Errorf("while the store refuses five answers %d bytes are held: whole requests, or nothing", n)
		}
		w.store.fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := m.bytes(); n != 0 || w.status(s.ID).Turn != 6 {
			t.Errorf("at the end %d bytes are held, turn %d", n, w.status(s.ID).Turn)
		}
	})
}

// patientAgent has files that never contain an answer: it waits for it for as long as it may.
type patientAgent struct{ *fullAgent }

func (a patientAgent) ReadTranscript(ctx context.Context, s thread.TranscriptSpec) ([]thread.Chunk, error) {
	if wait := time.Until(s.By); s.Answer != "" && wait > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return a.fullAgent.ReadTranscript(context.WithoutCancel(ctx), s)
}

// TestNoAnswerWaitsForTheFilesOfAnother holds that an answer is stored, and its memory given back, at once although the
// files of the agent never contain the one before: only of the newest answer are they waited for.
func TestNoAnswerWaitsForTheFilesOfAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		s, m := w.create(thread.NewRequest{}), &meter{}
		begin := time.Now()
		for i := range 20 {
			w.ended(s.ID, i, time.Now(), m)
			synctest.Wait()
			if n := m.bytes(); n != 0 {
				t.Errorf("%d bytes are held %v after answer %d", n, time.Since(begin), i)
			}
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("20 answers were recorded in %v", waited)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := w.status(s.ID); got.Turn != 20 || got.State.State != thread.StateDone {
			t.Errorf("turn %d, %s", got.Turn, got.State.State)
		}
	}, func(w *world) {
		w.agents["claude"] = patientAgent{w.agents["claude"].(*fullAgent)}
	})
}

// TestABacklogSharesOneLook holds that turns which ended before the files were last looked at are not given files
// of later.
func TestABacklogSharesOneLook(t *testing.T) {
	inWorld(t, func(w *world) {
		s, m := w.create(thread.NewRequest{}), &meter{}
		time.Sleep(time.Minute)
		w.trees.mu.Lock()
		before := w.trees.takes
		w.trees.mu.Unlock()
		takes := func() int {
			w.trees.mu.Lock()
			defer w.trees.mu.Unlock()
			return w.trees.takes - before
		}
		for i := range 10 {
			w.ended(s.ID, i, time.Now().Add(-time.Second), m)
		}
		synctest.Wait()
		if n := takes(); n != 1 {
			t.Errorf("the files were looked at %d times for ten turns that had ended", n)
		}
		time.Sleep(time.Second)
		w.ended(s.ID, 10, time.Now(), m)
		synctest.Wait()
		if n := takes(); n != 2 {
			t.Errorf("the files were looked at %d times, want 2", n)
		}
		list, err := w.m.History.Timeline(t.Context(), s.Name, thread.Page{Turns: true})
		if err != nil || len(list) != 11 {
			t.Fatalf("%d turns, %v", len(list), err)
		}
		for _, c := range list {
			if c.Snapshot == nil {
				t.Errorf("turn %d has no files", c.Turn)
			}
		}
	})
}

// TestAnUnreadAnswerIsATurn has answers that nobody could read: each is kept as a turn's end, and one that its agent
// went on from belongs to the same turn.
func TestAnUnreadAnswerIsATurn(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		unread := func(prompts ...string) {
			var items []thread.Item
			for _, p := range prompts {
				items = append(items, item("user", p))
			}
			w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
			w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{
				Main: true, Unread: true, EndsTurn: true, Model: "m1", Session: w.status(s.ID).Session, Status: 200, Started: time.Now(), Ended: time.Now(),
				Prompt: prompts[len(prompts)-1], Items: items, Err: "the answer cannot be read",
			})
			synctest.Wait()
		}
		unread("one")
		if got := w.status(s.ID); got.Turn != 1 || got.State.State != thread.StateUnknown || got.Head == "" {
			t.Errorf("turn %d, state %s", got.Turn, got.State.State)
		}
		unread("one")
		if got := w.status(s.ID); got.Turn != 1 {
			t.Errorf("the same prompt made turn %d", got.Turn)
		}
		unread("one", "two")
		if got := w.status(s.ID); got.Turn != 2 {
			t.Errorf("the next prompt made turn %d", got.Turn)
		}
	})
}
