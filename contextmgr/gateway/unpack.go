package gateway

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// maxCodings bounds how many codings may lie on each other.
const maxCodings = 4

// maxWindow bounds what a decoder takes of memory beside its output.
const maxWindow = 16 << 20

// errBomb says that a body is unpacked to more than is read of it.
var errBomb = errors.New("it unpacks to more than may be read")

// codings returns the content codings of a header in the order in which they were applied.
func codings(header []string) []string {
	var all []string
	for _, v := range header {
		for c := range strings.SplitSeq(v, ",") {
			if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
				all = append(all, c)
			}
		}
	}
	return all
}

// unpack takes codings off a body and writes what is below them as it comes, at most limit bytes. With an error it has
// written what could be read.
func unpack(to io.Writer, encoding []string, r io.Reader, limit int64) error {
	if len(encoding) > maxCodings {
		return fmt.Errorf("unpack %d codings: %w", len(encoding), thread.ErrUnsupported)
	}
	for i := len(encoding) - 1; i >= 0; i-- {
		next, done, err := decoder(encoding[i], r)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", wire.Clip(encoding[i], 20), err)
		}
		defer done()
		r = next
		if i > 0 { // what lies between is no more than what comes out: compressed bytes grow little
			r = io.LimitReader(r, limit+1<<20)
		}
	}
	n, err := io.Copy(to, io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("unpack %s: %w", wire.Clip(strings.Join(encoding, ", "), 80), err)
	case n > limit:
		return fmt.Errorf("unpack %s: %w", wire.Clip(strings.Join(encoding, ", "), 80), errBomb)
	default:
		return nil
	}
}

// decoder takes one coding off.
func decoder(coding string, r io.Reader) (out io.Reader, done func(), err error) {
	done = func() {}
	switch coding {
	case "gzip", "x-gzip":
		out, err = gzip.NewReader(r)
	case "br":
		out = brotli.NewReader(r)
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err == nil {
			out, done = z, z.Close
		}
	case "deflate":
		// The name means zlib's format; some servers leave its header out.
		in := bufio.NewReader(r)
		if head, peek := in.Peek(2); peek == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			out, err = zlib.NewReader(in)
		} else {
			out = flate.NewReader(in)
		}
	default:
		err = thread.ErrUnsupported
	}
	return out, done, err
}

// unpacking takes an answer's codings off while it comes, in a goroutine of its own: the stream waits for none of it.
// What is unpacked is the goroutine's until wait returns.
type unpacking struct {
	in   *inbox
	done chan struct{} // closed when err is set
	err  error
}

// unpack begins to unpack the answer for its reader.
func (o *observation) unpack() *unpacking {
	u := &unpacking{in: newInbox(wire.MaxAnswer), done: make(chan struct{})}
	go func() {
		defer close(u.done)
		u.err = unpack(answerWriter{o}, o.encoding, u.in, 2*wire.MaxAnswer)
		u.in.end() // what still comes is not needed
	}()
	return u
}

// wait returns how it went, after the inbox has ended.
func (u *unpacking) wait() error {
	<-u.done
	return u.err
}

// answerWriter gives an unpacked answer to its reader.
type answerWriter struct{ o *observation }

func (w answerWriter) Write(b []byte) (int, error) {
	if !w.o.held.force(int64(len(b))) {
		return 0, errFull
	}
	w.o.hear(b)
	return len(b), nil
}

// inbox hands bytes from a writer that must not wait to a reader that does. It takes a number of bytes in all.
type inbox struct {
	mu    sync.Mutex
	more  sync.Cond
	bytes []byte
	read  int // of bytes
	left  int
	ended bool
}

func newInbox(limit int) *inbox {
	b := &inbox{left: limit}
	b.more.L = &b.mu
	return b
}

// put adds bytes; false when they are too many. After the end they are dropped.
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

// end says that no more comes. It may be called more than once.
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
		if cap(b.bytes) > 2*bufSize {
			b.bytes = nil
		}
	}
	return n, nil
}
