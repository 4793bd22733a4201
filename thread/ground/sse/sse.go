// Package sse parses a stream of server-sent events, as the bytes arrive or from a reader.
//
// The bytes may be cut anywhere, only line feeds and carriage returns end lines, and no stream makes it hold more than
// twice the limit of an event: a longer one is dropped and counted. It does not decode the data of the events.
package sse

import (
	"bytes"
	"cmp"
	"errors"
	"io"
)

// MaxEvent is the size limit of an event's data in bytes; an image is sent in one event.
const MaxEvent = 32 << 20

const maxID = 1024

// Event is one event.
type Event struct {
	Name string
	ID   string
	Data []byte // nil without data
}

// Parser turns bytes into events. It is used by one goroutine.
type Parser struct {
	// Event is called for each event that has data or an id. The data is valid only during the call.
	Event func(Event)
	// Max is the size limit of an event in place of MaxEvent.
	Max int

	line    []byte // an unfinished line
	data    []byte
	name    string
	id      string
	hasData bool
	lastCR  bool // the last byte ended a line: a line feed now is part of that line end
	long    bool // the current line or event is over the limit
	begun   bool // past a byte order mark
	dropped int
}

// Dropped returns how many events were too large.
func (p *Parser) Dropped() int { return p.dropped }

// Write adds the next bytes of the stream.
func (p *Parser) Write(b []byte) {
	for len(b) > 0 {
		if p.lastCR {
			p.lastCR = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			p.grow(b)
			return
		}
		p.lastCR = b[end] == '\r'
		if len(p.line) == 0 && !p.long {
			p.endLine(b[:end])
		} else {
			p.grow(b[:end])
			p.endLine(p.line)
			p.line = p.line[:0]
		}
		b = b[end+1:]
	}
}

// Close emits the event in which the stream ended, if any, even without an empty line after it.
func (p *Parser) Close() {
	if len(p.line) > 0 {
		p.endLine(p.line)
		p.line = nil
	}
	p.dispatch()
}

func (p *Parser) most() int { return cmp.Or(p.Max, MaxEvent) }

func (p *Parser) grow(b []byte) {
	if p.long {
		return
	}
	if len(p.line)+len(b) > p.most() {
		p.long = true
		p.line = p.line[:0]
		return
	}
	p.line = append(p.line, b...)
}

func (p *Parser) endLine(line []byte) {
	if !p.begun {
		p.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 && !p.long {
		p.dispatch()
		return
	}
	if p.long {
		// The rest of an overlong line: its event is lost, the next one is not.
		if !p.hasData || p.data != nil {
			p.dropped++
		}
		p.data, p.hasData, p.long = nil, true, false
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		p.name = string(value)
	case "id":
		if len(value) <= maxID && bytes.IndexByte(value, 0) < 0 {
			p.id = string(value)
		}
	case "data":
		p.addData(value)
	}
}

func (p *Parser) addData(value []byte) {
	if p.hasData && p.data == nil {
		return // the rest of a dropped event
	}
	if len(p.data)+len(value) >= p.most() {
		p.dropped++
		p.data, p.hasData = nil, true
		return
	}
	if p.hasData {
		p.data = append(p.data, '\n')
	}
	p.data = append(p.data, value...)
	if p.data == nil {
		p.data = []byte{}
	}
	p.hasData = true
}

func (p *Parser) dispatch() {
	switch {
	case p.hasData && p.data != nil:
		p.Event(Event{p.name, p.id, p.data})
	case !p.hasData && p.id != "":
		p.Event(Event{p.name, p.id, nil})
	}
	if cap(p.data) > 1<<16 {
		p.data = nil
	}
	p.data, p.name, p.id, p.hasData = p.data[:0], "", "", false
}

// ErrTooLong is why a Reader ends before its stream.
var ErrTooLong = errors.New("an event is too long")

// Reader reads the events of a stream, which ends with one that is too long. One that is not finished at its end is none.
type Reader struct {
	in     io.Reader
	parser Parser
	read   []Event
	buf    [32 << 10]byte
}

// NewReader returns a reader of events of at most that many bytes.
func NewReader(in io.Reader, most int) *Reader {
	r := &Reader{in: in}
	r.parser = Parser{Max: most, Event: func(e Event) {
		if r.parser.Dropped() == 0 {
			e.Data = bytes.Clone(e.Data)
			r.read = append(r.read, e)
		}
	}}
	return r
}

// Next returns the next event that has data or an id. Its data is not overwritten later.
func (r *Reader) Next() (Event, error) {
	for len(r.read) == 0 {
		if r.parser.Dropped() > 0 || r.parser.long {
			return Event{}, ErrTooLong
		}
		n, err := r.in.Read(r.buf[:])
		if r.parser.Write(r.buf[:n]); n == 0 && err != nil {
			return Event{}, err
		}
	}
	e := r.read[0]
	r.read = r.read[1:]
	return e, nil
}
