package front

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// errTwoWays means that a request could be read in two ways. A server that reads it after a part of a request answers
// that with 400.
var errTwoWays = io.EOF

// where is the part of a request that comes next.
type where int

const (
	inStart where = iota // before the first byte of a request
	inHead
	inBody
	inSize  // the line before a chunk
	inChunk // and what is in it, with its CRLF
	inTrailer
	beyond // another protocol
)

const (
	// maxLine bounds what is kept of a line, and tail is how much of its end is.
	maxLine = 256
	tail    = len(" HTTP/1.1\r")
)

// line is a line as far as it has come, without its LF.
type line struct {
	begin []byte // cut at maxLine
	end   []byte // the last bytes of it
	size  int
	odd   bool // it has a CR that is not its last byte, or a NUL
}

func (l *line) add(part []byte) {
	if len(part) == 0 {
		return
	}
	cr := bytes.IndexByte(part, '\r')
	l.odd = l.odd || bytes.HasSuffix(l.end, []byte{'\r'}) || cr >= 0 && cr < len(part)-1 || bytes.IndexByte(part, 0) >= 0
	l.begin = append(l.begin, part[:min(len(part), maxLine-len(l.begin))]...)
	l.end = append(l.end, part[max(0, len(part)-tail):]...)
	l.end = append(l.end[:0], l.end[max(0, len(l.end)-tail):]...)
	l.size += len(part)
}

// take returns the line, of which the caller has seen the LF, and begins another one. ok is false if it is not plain.
func (l *line) take() (text string, whole, http11, ok bool) {
	ok = !l.odd && bytes.HasSuffix(l.end, []byte{'\r'})
	whole = l.size <= len(l.begin)
	text = string(l.begin)
	if whole {
		text = strings.TrimSuffix(text, "\r")
	}
	http11 = string(l.end) == " HTTP/1.1\r"
	*l = line{begin: l.begin[:0], end: l.end[:0]}
	return text, whole, http11, ok
}

// reader follows the requests of a connection: where each begins, and where it ends.
type reader struct {
	at   where
	line line
	left int64 // of the body or the chunk
	head int   // bytes of the head, kept until the next request

	first   bool // the request line has come
	oldest  bool // it is of HTTP before 1.1
	connect bool
	other   bool // it asks for another protocol
	lengths int
	length  int64
	chunked bool
}

// next begins another request.
func (r *reader) next() { *r = reader{line: r.line} }

// owes reports whether a part of a request has come and not all of it.
func (r *reader) owes() bool { return r.at != inStart && r.at != beyond }

// feed follows what has come. If that is not plain, it returns how much of it may be passed on: less than a whole head.
func (r *reader) feed(b []byte) (good int, err error) {
	for i := 0; i < len(b); {
		switch r.at {
		case beyond:
			return len(b), nil
		case inBody, inChunk:
			n := min(r.left, int64(len(b)-i))
			if r.at == inChunk && !r.chunkEnds(b[i:i+int(n)]) {
				return i, errTwoWays
			}
			i, r.left = i+int(n), r.left-n
			if r.left == 0 {
				r.bodyEnds()
			}
		default:
			end := bytes.IndexByte(b[i:], '\n')
			part := b[i:]
			if end >= 0 {
				part = part[:end]
			}
			r.line.add(part)
			if r.at == inStart {
				r.at, r.head = inHead, 0
			}
			if r.at == inHead {
				r.head += len(part) + 1
			}
			if end < 0 {
				return len(b), nil
			}
			if !r.lineEnds() {
				return i + end, errTwoWays // the line's end does not get through
			}
			i += end + 1
		}
	}
	return len(b), nil
}

// chunkEnds checks that a chunk ends in CRLF: its last two bytes.
func (r *reader) chunkEnds(b []byte) bool {
	for i, c := range b {
		switch r.left - int64(i) {
		case 2:
			if c != '\r' {
				return false
			}
		case 1:
			if c != '\n' {
				return false
			}
		}
	}
	return true
}

// bodyEnds goes on after a body, or after a chunk.
func (r *reader) bodyEnds() {
	if r.at == inChunk {
		r.at = inSize
		return
	}
	r.next()
}

// lineEnds reads a line, and reports whether it is plain.
func (r *reader) lineEnds() bool {
	text, whole, http11, ok := r.line.take()
	if !ok {
		return false
	}
	switch r.at {
	case inHead:
		switch {
		case text == "":
			return r.headEnds()
		case !r.first:
			r.first, r.oldest, r.connect = true, !http11, strings.HasPrefix(text, "CONNECT ")
			return true
		default:
			return r.header(text, whole)
		}
	case inSize:
		digits, _, _ := strings.Cut(text, ";")
		n, err := strconv.ParseUint(strings.TrimRight(digits, " \t"), 16, 48)
		if err != nil || !whole {
			return false
		}
		if n == 0 {
			r.at = inTrailer
			return true
		}
		r.at, r.left = inChunk, int64(n)+2
		return true
	default: // in the trailer
		if text == "" {
			r.next()
			return true
		}
		return text[0] != ' ' && text[0] != '\t'
	}
}

// header reads a line of the head.
func (r *reader) header(text string, whole bool) bool {
	name, value, _ := strings.Cut(text, ":")
	if name == "" || strings.ContainsAny(name, " \t") { // folded, or with a space before the colon
		return false
	}
	value = strings.Trim(value, " \t")
	switch strings.ToLower(name) {
	case "content-length":
		n, err := strconv.ParseUint(value, 10, 62)
		r.lengths, r.length = r.lengths+1, int64(n)
		return err == nil && whole && r.lengths == 1 && !r.chunked
	case "transfer-encoding":
		again := r.chunked
		r.chunked = true
		return !again && whole && strings.EqualFold(value, "chunked") && r.lengths == 0 && !r.oldest
	case "upgrade":
		r.other = true
	}
	return true
}

// headEnds goes on after the head.
func (r *reader) headEnds() bool {
	switch {
	case !r.first:
		return false
	case r.connect:
		r.at = beyond
	case r.other && !r.chunked && r.length == 0:
		r.at = beyond // or the last request: see Guard
	case r.chunked:
		r.at = inSize
	case r.length > 0:
		r.at, r.left = inBody, r.length
	default:
		r.next()
	}
	return true
}
