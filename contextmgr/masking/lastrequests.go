package masking

import (
	"fmt"
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

// ended is the last request of a thread that ended a turn: a summary by hand begins with it.
type ended struct {
	outgoing gateway.Outgoing // without the body, and with nothing of the header
	scanner  wire.Scanner
	packed   []byte
	end      *time.Timer
}

// kept has the last requests of threads in memory, compressed, each for an hour. The oldest make room for new ones.
type kept struct {
	pack   *zstd.Encoder
	unpack *zstd.Decoder
	most   int // bytes, compressed

	mu    sync.Mutex // guards the rest; a leaf
	of    map[thread.ID]*ended
	order []thread.ID
	size  int
}

func newKept() (*kept, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &kept{pack: pack, unpack: unpack, most: mostKept, of: map[thread.ID]*ended{}}, nil
}

// keep keeps a request in place of the thread's one before.
func (k *kept) keep(o gateway.Outgoing, scanner wire.Scanner) {
	e := &ended{outgoing: o, scanner: scanner, packed: k.pack.EncodeAll(o.Call.Body, nil)}
	e.outgoing.Call.Header, e.outgoing.Call.Body = nil, nil
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(o.Thread)
	k.of[o.Thread], k.order, k.size = e, append(k.order, o.Thread), k.size+len(e.packed)
	for k.size > k.most {
		k.drop(k.order[0])
	}
	e.end = time.AfterFunc(keptFor, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.of[o.Thread] == e {
			k.drop(o.Thread)
		}
	})
}

// forget forgets a thread's request.
func (k *kept) forget(id thread.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(id)
}

// drop forgets a thread's request. mu is held.
func (k *kept) drop(id thread.ID) {
	e := k.of[id]
	if e == nil {
		return
	}
	if e.end != nil {
		e.end.Stop()
	}
	delete(k.of, id)
	k.size -= len(e.packed)
	for i, other := range k.order {
		if other == id {
			k.order = append(k.order[:i:i], k.order[i+1:]...)
			break
		}
	}
}

// get returns a thread's last request that ended a turn.
func (k *kept) get(id thread.ID) (gateway.Outgoing, wire.Scanner, error) {
	k.mu.Lock()
	e := k.of[id]
	k.mu.Unlock()
	if e == nil {
		return gateway.Outgoing{}, nil, thread.Hint(
			fmt.Errorf("the last request of its agent is not in memory, where it is for an hour after each turn: %w",
				thread.ErrRefused), "send it a prompt first")
	}
	o := e.outgoing
	var err error
	if o.Call.Body, err = k.unpack.DecodeAll(e.packed, nil); err != nil {
		return o, nil, fmt.Errorf("read the last request: %w", err)
	}
	return o, e.scanner, nil
}
