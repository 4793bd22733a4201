package repository

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLocksAreFair has some take a lock over and over: one that comes later waits for those before it, not for all to
// stop.
func TestLocksAreFair(t *testing.T) {
	const busy = 4
	l, path := NewLocks(), filepath.Join(t.TempDir(), "lock")
	var taken atomic.Int64
	var stop atomic.Bool
	var all sync.WaitGroup
	for range busy {
		all.Go(func() {
			for !stop.Load() {
				unlock, err := l.lock(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				taken.Add(1)
				time.Sleep(time.Millisecond) // a snapshot
				unlock()
			}
		})
	}
	for range 20 {
		before := taken.Load()
		unlock, err := l.lock(t.Context(), path)
		if err != nil {
			t.Error(err)
			break
		}
		if others := taken.Load() - before; others > 3*busy {
			t.Errorf("%d others were let in first", others)
		}
		unlock()
	}
	stop.Store(true)
	all.Wait()
}
