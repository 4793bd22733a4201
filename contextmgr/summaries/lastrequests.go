package summaries

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

const (
	keptFor  = time.Hour
	mostKept = 64 << 20 // bytes of all threads
)

// lastRequest is the last request of a thread that ended a turn: a summary by hand begins with it.
type lastRequest struct {
	outgoing gateway.Outgoing // without the body, and with nothing of the header
	scanner  wire.Scanner
	packed   []byte
	end      *time.Timer
}

// lastRequests has the last requests of threads in memory, compressed, each for an hour. The oldest make room for new ones.
type lastRequests struct {
	pack   *zstd.Encoder
	unpack *zstd.Decoder
	most   int // bytes, compressed

	mu    sync.Mutex // guards the rest; a leaf
	of    map[thread.ID]*lastRequest
	order []thread.ID
	size  int
}

func newLastRequests() (*lastRequests, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true))
	unpack, other := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	return &lastRequests{pack: pack, unpack: unpack, most: mostKept, of: map[thread.ID]*lastRequest{}}, errors.Join(err, other)
}

// keep keeps a request in place of the thread's one before.
func (l *lastRequests) keep(o gateway.Outgoing, scanner wire.Scanner) {
	e := &lastRequest{outgoing: o, scanner: scanner, packed: l.pack.EncodeAll(o.Call.Body, nil)}
	e.outgoing.Call.Header, e.outgoing.Call.Body = nil, nil
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(o.Thread)
	l.of[o.Thread], l.order, l.size = e, append(l.order, o.Thread), l.size+len(e.packed)
	e.end = time.AfterFunc(keptFor, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.of[o.Thread] == e {
			l.drop(o.Thread)
		}
	})
	for l.size > l.most {
		l.drop(l.order[0])
	}
}

// forget forgets a thread's request.
func (l *lastRequests) forget(id thread.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(id)
}

// drop forgets a thread's request. mu is held.
func (l *lastRequests) drop(id thread.ID) {
	e := l.of[id]
	if e == nil {
		return
	}
	e.end.Stop()
	delete(l.of, id)
	l.size -= len(e.packed)
	l.order = slices.DeleteFunc(l.order, func(other thread.ID) bool { return other == id })
}

// get returns a thread's last request that ended a turn.
func (l *lastRequests) get(id thread.ID) (gateway.Outgoing, wire.Scanner, error) {
	l.mu.Lock()
	e := l.of[id]
	l.mu.Unlock()
	if e == nil {
		return gateway.Outgoing{}, nil, thread.Hint(
			thread.Kindf(thread.ErrRefused, "the last request of its agent is not in memory, where it is for an hour after each turn"), "send it a prompt first")
	}
	o := e.outgoing
	var err error
	if o.Call.Body, err = l.unpack.DecodeAll(e.packed, nil); err != nil {
		return o, nil, fmt.Errorf("read the last request: %w", err)
	}
	return o, e.scanner, nil
}
