package tokens

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// keepEvery is how long a change may wait until it is written.
const keepEvery = 5 * time.Minute

// keeper writes something that changes to its file: some minutes after a change, and when it is closed. What could not
// be written is tried again after the same time. It owns one goroutine.
type keeper struct {
	write func() error
	log   *slog.Logger
	what  string // for the log

	dirty atomic.Bool // something has changed since the last write began
	wake  chan struct{}
	stop  chan struct{}
	ended chan struct{}
	close func() error // once
}

func newKeeper(what string, log *slog.Logger, write func() error) *keeper {
	k := &keeper{
		write: write, log: log, what: what,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	k.close = sync.OnceValue(func() error {
		close(k.stop)
		<-k.ended
		return k.flush()
	})
	go k.run()
	return k
}

// changed notes that there is something to write. It never blocks.
func (k *keeper) changed() {
	if k.dirty.Swap(true) {
		return
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// flush writes what has changed.
func (k *keeper) flush() error {
	if !k.dirty.Swap(false) {
		return nil
	}
	err := k.write()
	if err != nil {
		k.changed()
	}
	return err
}

func (k *keeper) run() {
	defer close(k.ended)
	failed := false
	for {
		select {
		case <-k.wake:
		case <-k.stop:
			return
		}
		t := time.NewTimer(keepEvery)
		select {
		case <-t.C:
		case <-k.stop:
			t.Stop()
			return
		}
		err := k.flush()
		if err != nil && !failed { // a full disk is not told every time
			k.log.Warn("store "+k.what+"; will retry", "err", err)
		}
		failed = err != nil
	}
}
