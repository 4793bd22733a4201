package fair_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread/fair"
)

// TestFirstComeFirstServed: two at a time, and nobody is overtaken, by one that asks for a moment neither.
func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.NewLine(2, time.Hour)
		var mu sync.Mutex
		var order []int
		in, most := 0, 0
		for i := range 20 {
			go func() {
				leave, ok := l.Enter(t.Context().Done())
				if !ok {
					t.Error("no place")
					return
				}
				mu.Lock()
				order = append(order, i)
				in++
				most = max(most, in)
				mu.Unlock()
				time.Sleep(time.Second + time.Duration(i)*time.Millisecond) // no two leave at one moment
				mu.Lock()
				in--
				mu.Unlock()
				leave()
				leave() // once more does nothing
			}()
			synctest.Wait() // it waits now, behind the others
		}
		begin := time.Now()
		if _, ok := l.TryEnter(); ok {
			t.Error("one took a place that others waited for")
		}
		for {
			leave, ok := l.TryEnter()
			if ok {
				leave()
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(begin); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("20 with two places and a second each took %v", took)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if most != 2 || len(order) != 20 || !slices.IsSorted(order) {
			t.Errorf("%d at a time, in the order %v", most, order)
		}
	})
}

// TestShare: one that never leaves holds up the next for a share, and takes no second place with it when it leaves then.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.NewLine(1, time.Second)
		slow, ok := l.TryEnter()
		if !ok {
			t.Fatal("the first has no place")
		}
		begin := time.Now()
		leave, ok := l.Enter(t.Context().Done())
		if !ok || time.Since(begin) != time.Second {
			t.Errorf("the next waited %v", time.Since(begin))
		}
		slow()
		if _, ok := l.TryEnter(); ok {
			t.Error("a place was left twice")
		}
		leave()
		if _, ok := l.TryEnter(); !ok {
			t.Error("the place is not free again")
		}
	})
}

// TestGivingUp: one that no longer waits takes no place, however close its turn is.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.NewLine(1, time.Hour)
		leave, _ := l.TryEnter()
		done := make(chan struct{})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if after, ok := l.Enter(done); ok {
					after()
				}
			})
		}
		synctest.Wait()
		go leave()
		close(done)
		wg.Wait()
		synctest.Wait()
		if _, ok := l.TryEnter(); !ok {
			t.Error("the place was lost")
		}
	})
}
