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

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// maxCodings is the number of codings that a body may have on top of each other.
const maxCodings = 4

// maxWindow is the memory that a decoder may use in addition to its output.
const maxWindow = 16 << 20

// errBomb means that a decoded body is larger than what is read of it.
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

// unpack decodes a body and writes the content as it comes, at most limit bytes. If it returns an error, it has written
// what could be read.
func unpack(to io.Writer, encoding []string, r io.Reader, limit int64) error {
	if len(encoding) > maxCodings {
		return fmt.Errorf("unpack %d codings: %w", len(encoding), thread.ErrUnsupported)
	}
	for i := len(encoding) - 1; i >= 0; i-- {
		next, done, err := decoder(encoding[i], r)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", plaintext.Cut(encoding[i], 20), err)
		}
		defer done()
		r = next
		if i > 0 { // an inner layer is hardly larger than the content: compressing compressed bytes adds little
			r = io.LimitReader(r, limit+1<<20)
		}
	}
	n, err := io.Copy(to, io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("unpack %s: %w", plaintext.Cut(strings.Join(encoding, ", "), 80), err)
	case n > limit:
		return fmt.Errorf("unpack %s: %w", plaintext.Cut(strings.Join(encoding, ", "), 80), errBomb)
	default:
		return nil
	}
}

// decoder decodes one coding.
func decoder(coding string, r io.Reader) (out io.Reader, done func(), err error) {
	done = func() {}
	switch coding {
	case "gzip", "x-gzip":
		out, err = gzip.NewReader(r)
	case "br":
		out = brotli.NewReader(r)
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(r,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err == nil {
			out, done = z, z.Close
		}
	case "deflate":
		// The name means zlib's format; some servers omit its header.
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

// unpacking decodes an answer as it arrives, in its own goroutine: the stream never waits for it. The decoded content
// belongs to the goroutine until wait returns.
type unpacking struct {
	in   *inbox
	done chan struct{} // closed when err is set
	err  error
}

// newUnpacking begins to decode an answer and writes the content to its reader.
func newUnpacking(to io.Writer, encoding []string) *unpacking {
	u := &unpacking{in: newInbox(wire.MaxAnswer), done: make(chan struct{})}
	go func() {
		defer close(u.done)
		u.err = unpack(to, encoding, u.in, 2*wire.MaxAnswer)
		u.in.end() // the rest is not needed
	}()
	return u
}

// wait returns the error after the inbox has ended.
func (u *unpacking) wait() error {
	<-u.done
	return u.err
}
