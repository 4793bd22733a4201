package gateway

import (
	"io"
	"sync"
)

// keepInbox is the size of the largest buffer that an empty inbox keeps.
const keepInbox = 64 << 10

// inbox passes bytes from a writer that must not block to a reader that may. It accepts a limited number of bytes in
// all.
type inbox struct {
	mu    sync.Mutex
	more  sync.Cond
	bytes []byte
	read  int // in bytes
	left  int
	ended bool
}

func newInbox(limit int) *inbox {
	b := &inbox{left: limit}
	b.more.L = &b.mu
	return b
}

// put adds bytes; false if they exceed the limit. After the end they are dropped.
func (b *inbox) put(p []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return true
	}
	if b.left -= len(p); b.left < 0 {
		b.ended, b.bytes, b.read = true, nil, 0
		b.more.Signal()
		return false
	}
	b.bytes = append(b.bytes, p...)
	b.more.Signal()
	return true
}

// end ends the input. It may be called more than once.
func (b *inbox) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.more.Signal()
}

// Read implements io.Reader.
func (b *inbox) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.read == len(b.bytes) {
		if b.ended {
			return 0, io.EOF
		}
		b.more.Wait()
	}
	n := copy(p, b.bytes[b.read:])
	if b.read += n; b.read == len(b.bytes) {
		b.bytes, b.read = b.bytes[:0], 0
		if cap(b.bytes) > keepInbox {
			b.bytes = nil
		}
	}
	return n, nil
}
