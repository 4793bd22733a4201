// Package sse takes a stream of server-sent events apart, as the bytes come.
//
// It guarantees that bytes may be cut anywhere, that only line feeds and carriage returns end
// lines, and that no stream makes it hold more than twice MaxEvent: a longer event is dropped and
// counted. It does not decode what the events say.
package sse

import "bytes"

// MaxEvent is the longest event that is told, in bytes of data: an image comes in one.
const MaxEvent = 32 << 20

// Parser is told bytes and tells events. It is used by one goroutine.
type Parser struct {
	// Event is called for each event that has data. data is valid during the call only.
	Event func(name string, data []byte)

	line    []byte // an unfinished line
	data    []byte
	name    string
	hasData bool
	lastCR  bool // the last byte ended a line: a line feed now belongs to it
	long    bool // the current line or event is over the limit
	begun   bool // past a byte order mark
	dropped int
}

// Dropped returns how many events were too long to be told.
func (p *Parser) Dropped() int { return p.dropped }

// Write takes the next bytes of the stream.
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

// Close tells an event that the stream ended in without an empty line.
func (p *Parser) Close() {
	if len(p.line) > 0 {
		p.endLine(p.line)
		p.line = nil
	}
	p.dispatch()
}

func (p *Parser) grow(b []byte) {
	if p.long {
		return
	}
	if len(p.line)+len(b) > MaxEvent {
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
		// The rest of an overlong line: the event it belongs to is lost, the next is not.
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
	case "data":
		p.addData(value)
	}
}

func (p *Parser) addData(value []byte) {
	if p.hasData && p.data == nil {
		return // the rest of a dropped event
	}
	if len(p.data)+len(value) >= MaxEvent {
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
	if p.hasData && p.data != nil && p.Event != nil {
		p.Event(p.name, p.data)
	}
	if cap(p.data) > 1<<16 {
		p.data = nil
	}
	p.data, p.name, p.hasData = p.data[:0], "", false
}
