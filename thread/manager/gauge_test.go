package manager_test

import (
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// TestGaugeMovesBetweenAnswers: a request in progress is shown as estimated, and the provider's count from its answer on.
func TestGaugeMovesBetweenAnswers(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1")
		begun := thread.Begun{Main: true, Model: "m1", At: time.Now(), Context: 90, Margin: 0.1, Masked: 40}
		w.m.Traffic.RequestStarted(s.ID, begun)
		synctest.Wait()
		if g := w.status(s.ID).Gauge; g.Tokens != 90 || !g.Estimated || g.Margin != 0.1 || g.Masked != 40 {
			t.Errorf("while a request runs: %+v", g)
		}
		w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{Main: true, Status: 500, Err: "no", Started: begun.At, Ended: time.Now()})
		synctest.Wait()
		if g := w.status(s.ID).Gauge; g.Tokens != 15 || g.Estimated {
			t.Errorf("after a request that failed: %+v", g)
		}
		w.m.Traffic.RequestStarted(s.ID, begun)
		w.turn(s.ID, "p2")
		if g := w.status(s.ID).Gauge; g.Tokens != 15 || g.Estimated || g.Margin != 0 || g.Masked != 7 {
			t.Errorf("after the answer: %+v", g)
		}
	})
}
