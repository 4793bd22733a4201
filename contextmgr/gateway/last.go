package gateway

import (
	"hash/maphash"

	"orchestrator/thread"
)

// last is the request of a thread's newest main exchange, if it failed. It belongs to the queue's goroutine.
type last struct {
	seed   maphash.Seed
	failed bool
	asked  uint64
}

// key identifies a request by the length of its conversation and the newest message: agents repeat a failed request
// with these unchanged, whatever else they change in it.
func (l *last) key(items []thread.Item) uint64 {
	if len(items) == 0 {
		return 0
	}
	if l.seed == (maphash.Seed{}) {
		l.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(l.seed, items[len(items)-1].Raw) + uint64(len(items))
}

// again reports whether a request repeats the failed one before it. A request that could not be read counts as a
// repetition.
func (l *last) again(items []thread.Item) bool {
	return l.failed && (len(items) == 0 || l.asked == 0 || l.key(items) == l.asked)
}

// ended records how the newest main request ended.
func (l *last) ended(e thread.Exchange) {
	l.failed = e.Status >= 300 || e.Interrupted || e.Fault != thread.FaultNone
	l.asked = 0
	if l.failed {
		l.asked = l.key(e.Items)
	}
}
