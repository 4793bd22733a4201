package session

import "bytes"

// keptLine is the largest buffer that is kept for the next line.
const keptLine = 64 << 10

// lines cuts what a program prints into lines. It holds at most one, of at most a number of bytes.
type lines struct {
	most int
	line func(b []byte) // gets each line, without its end; b is valid until it returns
	// long gets the beginning of a line that has more than most bytes, in place of line, and how many those are.
	long func(head []byte, n int64)

	buf  []byte
	over int64 // how many bytes the line has beyond buf
}

// write takes a piece.
func (l *lines) write(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.keep(b)
			return
		}
		if len(l.buf) == 0 && l.over == 0 && i <= l.most {
			l.line(bare(b[:i])) // most lines come in one piece
		} else {
			l.keep(b[:i])
			l.end()
		}
		b = b[i+1:]
	}
}

// keep adds to the line as much as it may have.
func (l *lines) keep(b []byte) {
	n := min(len(b), l.most-len(l.buf))
	if need := len(l.buf) + n; need > cap(l.buf) {
		grown := make([]byte, len(l.buf), min(max(2*cap(l.buf), need, 4<<10), max(l.most, need)))
		copy(grown, l.buf)
		l.buf = grown
	}
	l.buf = append(l.buf, b[:n]...)
	l.over += int64(len(b) - n)
}

// end passes the line on.
func (l *lines) end() {
	if l.over > 0 {
		l.long(l.buf, int64(len(l.buf))+l.over)
	} else {
		l.line(bare(l.buf))
	}
	l.buf, l.over = l.buf[:0], 0
	if cap(l.buf) > keptLine {
		l.buf = nil
	}
}

// flush passes on a line that has no end.
func (l *lines) flush() {
	if len(l.buf) > 0 || l.over > 0 {
		l.end()
	}
}

// bare returns a line without the carriage return that may end it.
func bare(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\r")) }
