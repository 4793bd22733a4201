package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// MaxFrame is the size limit of a message in bytes.
const MaxFrame = 64 << 20

// ErrTooLong is why a stream ends on which a line is longer than MaxFrame.
var ErrTooLong = errors.New("a line is longer than 64 MiB")

// Lines is a Stream of one message a line, as on the standard streams of MCP servers.
//
// It reads what the agents' own clients get along with: lines that are no messages, and text in front of the first
// message: a byte order mark, colours, a prompt without a newline.
type Lines struct {
	in   *bufio.Reader
	tail *tail
	out  io.Writer
	end  io.Closer
	// stray takes lines, and text in front of the first message, that are no messages; nil drops them.
	stray func(line []byte)
	begun bool // a message has been read

	writing chan struct{} // has an element while a line is written
}

// NewLines returns a stream that reads from in and writes to out. Close closes end.
func NewLines(in io.Reader, out io.Writer, end io.Closer, stray func(line []byte)) *Lines {
	t := &tail{in: in}
	return &Lines{in: bufio.NewReaderSize(t, 64<<10), tail: t, out: out, end: end, stray: stray, writing: make(chan struct{}, 1)}
}

// Pending returns the beginning of a line that has not ended, as far as it has come.
func (l *Lines) Pending() []byte { return l.tail.line() }

// Read implements Stream. Lines that are no messages are passed to stray and skipped.
func (l *Lines) Read() (Message, error) {
	for {
		line, err := l.line()
		if len(line) > 0 {
			m, before, bad := l.decode(line)
			if len(before) > 0 && l.stray != nil {
				l.stray(before)
			}
			if bad == nil {
				l.begun = true
				return m, nil
			}
		}
		if err != nil {
			return Message{}, err
		}
	}
}

// maxStarts is in how many places of a line the first message is looked for.
const maxStarts = 64

// decode decodes a line. What it returns as before is no part of a message: all of the line, or what stands in front of
// the first message.
func (l *Lines) decode(line []byte) (m Message, before []byte, err error) {
	if m, err = Decode(line); err == nil {
		return m, nil, nil
	}
	for at, n := 0, 0; !l.begun && n < maxStarts; n++ {
		next := bytes.IndexByte(line[at:], '{')
		if next < 0 {
			break
		}
		at += next
		if m, bad := Decode(line[at:]); bad == nil {
			return m, line[:at], nil
		}
		at++
	}
	return Message{}, line, err
}

// line returns the next line without its end. What it returns is not overwritten later.
func (l *Lines) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(whole)+len(part) > MaxFrame {
			return nil, ErrTooLong
		}
		whole = append(whole, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(whole, "\r\n"), err
		}
	}
}

// Write implements Stream. It waits for other writes until the context ends, but once it has begun, only Close ends it: a
// half-written line would ruin the connection.
func (l *Lines) Write(ctx context.Context, m Message) error {
	b, err := m.Encode()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // the select below takes any case that is ready
		return err
	}
	select {
	case l.writing <- struct{}{}:
		defer func() { <-l.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	n, err := l.out.Write(append(b, '\n'))
	switch {
	case err == nil:
		return nil
	case n == 0:
		return fmt.Errorf("write: %w", err)
	default:
		return fmt.Errorf("write: %w: %w", err, ErrUnsure)
	}
}

// Close implements Stream.
func (l *Lines) Close() error { return l.end.Close() }
