// Package lines reads files of lines that may be broken or endless. It holds one line at a time, of up to Most bytes. A
// line that is too long is passed over and named; the lines behind it are read.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Most is the size in bytes of the longest line that is read.
const Most = 32 << 20

// ErrLong is the cause for a line that is too long.
var ErrLong = fmt.Errorf("longer than %d MB", Most>>20)

// Broken is a line that could not be read. The lines after it are.
type Broken struct {
	Line int // from 1
	Err  error
}

// Error implements error.
func (b *Broken) Error() string { return fmt.Sprintf("line %d: %v", b.Line, b.Err) }

// Unwrap returns the cause.
func (b *Broken) Unwrap() error { return b.Err }

// Parse reads lines that are not empty and gives what parse makes of each of them; the line is valid until it returns.
// An error is a *Broken, after which it goes on, or the reader's, with which it ends.
func Parse[T any](r io.Reader, parse func(line []byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var line []byte
		for n := 1; ; n++ {
			var err error
			line, err = next(in, line[:0])
			text, long, end := bytes.TrimSpace(line), errors.Is(err, ErrLong), errors.Is(err, io.EOF)
			var none T
			if err != nil && !long && !end {
				yield(none, err)
				return
			}
			if long || len(text) > 0 {
				value, bad := none, ErrLong
				if !long {
					value, bad = parse(text)
				}
				if bad != nil {
					value, bad = none, &Broken{n, bad}
				}
				if !yield(value, bad) {
					return
				}
			}
			if end {
				return
			}
		}
	}
}

// next reads a line into a buffer. Of one that is too long nothing is kept and all is read.
func next(in *bufio.Reader, line []byte) ([]byte, error) {
	var long error
	for {
		piece, err := in.ReadSlice('\n')
		if len(line)+len(piece) > Most {
			long = ErrLong
		}
		if long == nil {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, errors.Join(long, err)
		}
	}
}
