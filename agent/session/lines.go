package session

import "bytes"

// keptLine is the largest buffer that is kept for the next line.
const keptLine = 64 << 10

// lines cuts what a program prints into lines. It holds at most one, of at most a number of bytes.
type lines struct {
	most int
	head int            // how much is kept of one that has more
	line func(b []byte) // gets each line, without its end; b is valid until it returns
	// long gets the beginning of a line that has more than most bytes, in place of line, and how many those are.
	long func(head []byte, n int64)

	buf  []byte
	over int64 // how many bytes a line has that is too long; 0 while it is not
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

// keep adds to the line. Of one that is too long its beginning stays.
func (l *lines) keep(b []byte) {
	if l.over > 0 {
		l.over += int64(len(b))
		return
	}
	need := len(l.buf) + len(b)
	if need > l.most {
		l.over = int64(need)
		if more := l.head - len(l.buf); more > 0 {
			l.buf = append(l.buf, b[:more]...)
		}
		l.buf = bytes.Clone(l.buf[:l.head])
		return
	}
	if need > cap(l.buf) {
		grown := make([]byte, len(l.buf), min(max(4*cap(l.buf), need, 4<<10), l.most))
		copy(grown, l.buf)
		l.buf = grown
	}
	l.buf = append(l.buf, b...)
}

// end passes the line on.
func (l *lines) end() {
	if l.over > 0 {
		l.long(l.buf, l.over)
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
