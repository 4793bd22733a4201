package gateway

import (
	"hash/maphash"

	"orchestrator/thread"
)

// last is what a thread's newest main request asked for, if it failed. It belongs to the queue's goroutine.
type last struct {
	seed   maphash.Seed
	failed bool
	asked  uint64
}

// key identifies what a conversation asks for by its length and its newest message: agents repeat a failed request as
// it was, whatever else they change around it.
func (l *last) key(items []thread.Item) uint64 {
	if len(items) == 0 {
		return 0
	}
	if l.seed == (maphash.Seed{}) {
		l.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(l.seed, items[len(items)-1].Raw) + uint64(len(items))
}

// again reports whether a request asks for what the one before it asked for in vain. One that could not be read is
// taken for a repetition.
func (l *last) again(items []thread.Item) bool {
	return l.failed && (len(items) == 0 || l.asked == 0 || l.key(items) == l.asked)
}

// ended notes how the newest main request ended.
func (l *last) ended(e thread.Exchange) {
	l.failed = e.Status >= 300 || e.Interrupted || e.Fault != thread.FaultNone
	l.asked = 0
	if l.failed {
		l.asked = l.key(e.Items)
	}
}
