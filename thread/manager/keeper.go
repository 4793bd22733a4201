package manager

import (
	"orchestrator/thread"
	"orchestrator/thread/manager/eventlog"
	"orchestrator/thread/manager/events"
)

// keeper writes the event log to its file while the bus is open. What it cannot write is logged, once in a row.
type keeper struct {
	cfg  *Config
	bus  *events.Bus
	file *eventlog.File
	last int64 // the newest that was written
	gone int   // threads that the file has forgotten
	bad  bool  // the last write failed
	done chan struct{}
}

// keepLog reads the log of earlier runs and keeps it from now on; nil if it cannot be kept.
func keepLog(cfg *Config, bus *events.Bus) *keeper {
	file, earlier, err := eventlog.OpenFile(cfg.StateDir)
	if err != nil {
		cfg.Log.Warn("the event log of earlier runs is lost", "err", err)
	}
	if file == nil {
		return nil
	}
	k := &keeper{cfg: cfg, bus: bus, file: file, done: make(chan struct{})}
	if n := len(earlier); n > 0 {
		k.last = earlier[n-1].Seq
	}
	changed := bus.Keep(earlier)
	go func() {
		defer close(k.done)
		for range changed {
			k.write()
		}
		k.write()
		_ = k.file.Close() // a folder's handle
	}()
	return k
}

// write brings the file up to date.
func (k *keeper) write() {
	all := func() []thread.Happening {
		return k.bus.Happenings(thread.HappeningQuery{Limit: eventlog.Most}, "").Happenings
	}
	gone := k.bus.Forgot()
	list := k.bus.Happenings(thread.HappeningQuery{Since: k.last, Limit: eventlog.Most}, "").Happenings
	var err error
	switch {
	case gone != k.gone || k.bad:
		list = all()
		err = k.file.Replace(list)
	case len(list) > 0:
		err = k.file.Append(list, all)
	}
	if n := len(list); n > 0 {
		k.last = max(k.last, list[n-1].Seq)
	}
	if err != nil && !k.bad {
		k.cfg.Log.Warn("keep the event log", "err", err)
	}
	k.gone, k.bad = gone, err != nil
}

// wait waits until everything is written, once the bus is closed.
func (k *keeper) wait() {
	if k != nil {
		<-k.done
	}
}
