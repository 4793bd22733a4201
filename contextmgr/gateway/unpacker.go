package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"time"
)

const (
	// small is what a body may unpack to without asking for room among the large ones.
	small = 2 << 20
	// decoders is how many bodies are unpacked at once: each takes a window.
	decoders = 2
	// unpackLimit is how long a body waits to be unpacked. Then it is forwarded unread.
	unpackLimit = 10 * time.Second
)

// errFull means that too much is held to read on.
var errFull = errors.New("too much memory is in use to read it")

// unpacker unpacks bodies in bounded memory. How much a body unpacks to is counted before anything is held of it, and
// room is taken for that much, so that a few packed bytes cannot claim more than there is. Of what is large, requests
// and answers together may take a share of the gateway's memory.
type unpacker struct {
	large *memory
	slots chan struct{}
	limit int64 // of one body
}

func newUnpacker(memory, limit int64) *unpacker {
	// Reading and storing one takes about ten times its size.
	share := memory / 12
	return &unpacker{large: newMemory(share), slots: make(chan struct{}, decoders), limit: min(limit, share)}
}

// body returns the content of a packed body, which it counts as held.
func (u *unpacker) body(ctx context.Context, held *hold, encoding []string, packed []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, unpackLimit, errFull)
	defer cancel()
	first := &measure{buf: make([]byte, 0, min(8*int64(len(packed)), small/2))}
	if err := u.decode(ctx, held, first, encoding, packed); err != nil {
		return nil, err
	}
	whole := first.n == int64(len(first.buf))
	if !whole {
		first.buf = nil
	}
	if first.n > small {
		if err := u.room(held).take(ctx, first.n); err != nil {
			return nil, err
		}
		u.collect(first.n)
	}
	if !held.force(first.n) {
		return nil, errFull
	}
	if whole {
		return first.buf, nil
	}
	all := bytes.NewBuffer(make([]byte, 0, first.n+bytes.MinRead)) // with room to see its end without growing
	if err := u.decode(ctx, held, all, encoding, packed); err != nil {
		return nil, err
	}
	return all.Bytes(), nil
}

// decode unpacks a body when it is its turn. A thread has one body unpacked at a time, so that none keeps the decoders
// from the others.
func (u *unpacker) decode(ctx context.Context, held *hold, to io.Writer, encoding []string, packed []byte) error {
	for _, slot := range []chan struct{}{held.acc.unpacking(held.b), u.slots} {
		select {
		case slot <- struct{}{}:
			defer func() { <-slot }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return unpack(to, encoding, bytes.NewReader(packed), u.limit)
}

// room returns what a hold has of the memory for large bodies.
func (u *unpacker) room(held *hold) *hold {
	held.b.mu.Lock()
	defer held.b.mu.Unlock()
	if held.large == nil {
		held.large = u.large.hold(&account{})
	}
	return held.large
}

// collect returns to the system what was left of earlier bodies, before much is held of another one: the collector alone
// would wait until half as much again is in use.
func (u *unpacker) collect(n int64) {
	if n > u.large.max/8 {
		debug.FreeOSMemory()
	}
}

// growing returns a writer of an answer's content that takes room before it passes on what is large.
func (u *unpacker) growing(to io.Writer, held *hold) io.Writer {
	return &growing{to: to, u: u, held: held}
}

// measure counts what is written to it, and keeps it as long as it fits.
type measure struct {
	buf []byte
	n   int64
}

// Write implements io.Writer.
func (m *measure) Write(b []byte) (int, error) {
	if m.n == int64(len(m.buf)) && len(m.buf)+len(b) <= cap(m.buf) {
		m.buf = append(m.buf, b...)
	}
	m.n += int64(len(b))
	return len(b), nil
}

// growing is the content of an answer, of which the reader keeps a copy.
type growing struct {
	to       io.Writer
	u        *unpacker
	held     *hold
	n, taken int64
}

// Write implements io.Writer.
func (g *growing) Write(b []byte) (int, error) {
	g.n += int64(len(b))
	if g.n > small && g.n > g.taken {
		more := max(g.n, 2*g.taken, 2*small) - g.taken // what keeps it grows in steps like these
		if !g.u.room(g.held).try(more) {
			return 0, errFull
		}
		g.u.collect(more)
		g.taken += more
	}
	if !g.held.force(int64(len(b))) {
		return 0, errFull
	}
	return g.to.Write(b)
}
