package semaphore_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread/ground/semaphore"
)

// TestFirstComeFirstServed: two at a time, and nobody is overtaken, TryAcquire included.
func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := semaphore.New(2, time.Hour)
		var mu sync.Mutex
		var order []int
		in, most := 0, 0
		for i := range 20 {
			go func() {
				release, ok := s.Acquire(t.Context())
				if !ok {
					t.Error("no slot")
					return
				}
				mu.Lock()
				order = append(order, i)
				in++
				most = max(most, in)
				mu.Unlock()
				time.Sleep(time.Second + time.Duration(i)*time.Millisecond) // no two release at one moment
				mu.Lock()
				in--
				mu.Unlock()
				release()
				release() // a second call does nothing
			}()
			synctest.Wait() // it waits now, behind the others
		}
		begin := time.Now()
		if _, ok := s.TryAcquire(); ok {
			t.Error("TryAcquire took a slot that others were waiting for")
		}
		for {
			release, ok := s.TryAcquire()
			if ok {
				release()
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(begin); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("20 with two slots and a second each took %v", took)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if most != 2 || len(order) != 20 || !slices.IsSorted(order) {
			t.Errorf("%d at a time, in the order %v", most, order)
		}
	})
}

// TestLease: a holder that never releases delays the next by one lease, and its late release frees no second slot.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := semaphore.New(1, time.Second)
		slow, ok := s.TryAcquire()
		if !ok {
			t.Fatal("no slot for the first")
		}
		begin := time.Now()
		release, ok := s.Acquire(t.Context())
		if !ok || time.Since(begin) != time.Second {
			t.Errorf("the next waited %v", time.Since(begin))
		}
		slow()
		if _, ok := s.TryAcquire(); ok {
			t.Error("a slot was released twice")
		}
		release()
		if _, ok := s.TryAcquire(); !ok {
			t.Error("the slot is not free again")
		}
	})
}

// TestGiveUp: one that no longer waits takes no slot, however close its turn is.
func TestGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := semaphore.New(1, time.Hour)
		release, _ := s.TryAcquire()
		ctx, end := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if after, ok := s.Acquire(ctx); ok {
					after()
				}
			})
		}
		synctest.Wait()
		go release()
		end()
		wg.Wait()
		synctest.Wait()
		if _, ok := s.TryAcquire(); !ok {
			t.Error("the slot was lost")
		}
	})
}
