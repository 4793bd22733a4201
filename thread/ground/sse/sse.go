// Package sse parses a stream of server-sent events as the bytes arrive.
//
// The bytes may be cut anywhere, only line feeds and carriage returns end lines, and no stream makes it hold more than
// twice MaxEvent: a longer event is dropped and counted. It does not decode the data of the events.
package sse

import "bytes"

// MaxEvent is the size limit of an event's data in bytes; an image is sent in one event.
const MaxEvent = 32 << 20

// Parser turns bytes into events. It is used by one goroutine.
type Parser struct {
	// Event is called for each event that has data. data is valid only during the call.
	Event func(name string, data []byte)

	line    []byte // an unfinished line
	data    []byte
	name    string
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
