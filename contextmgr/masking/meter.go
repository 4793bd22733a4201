package masking

import (
	"bytes"

	"orchestrator/contextmgr/wire"
)

// imageTokens is about what a picture counts.
const imageTokens = 1600

// mostText is the size beyond which a content with pictures is not text.
const mostText = 16 << 10

// meter estimates how many tokens a model's provider counts.
type meter struct {
	counts      Counts
	calibration Calibration
	model       string
	encoding    string // by which the model's tokens are counted
}

// content returns the tokens of a content, without its pictures.
func (m meter) content(c wire.Content) int64 {
	n, ok := m.known(c)
	if !ok {
		size := c.End - c.Start
		if c.Other > 0 {
			size = min(size, mostText)
		}
		n = m.counts.Estimate(size)
	}
	factor, _, _ := m.calibration.Factor(m.model, c.Tool)
	return int64(float64(n) * factor)
}

// known returns the tokens of a content, if they have been counted.
func (m meter) known(c wire.Content) (tokens int64, ok bool) {
	return m.counts.Known(m.encoding, c.Sum)
}

// rest returns the tokens of what is not content: messages, the system prompt, tools.
func (m meter) rest(raw []byte) int64 {
	size, pictures := len(raw), int64(0)
	if size > mostPlain {
		bytesOf, n := pictured(raw)
		size, pictures = size-bytesOf, int64(n)
	}
	return m.text(size) + imageTokens*pictures
}

// text returns the tokens of so many bytes of what is not content and has no pictures.
func (m meter) text(size int) int64 {
	factor, _, _ := m.calibration.Factor(m.model, "")
	return int64(float64(m.counts.Estimate(size)) * factor)
}

const (
	mostPlain    = 32 << 10 // the size up to which a message is not searched for pictures
	leastPicture = 4 << 10  // the size in bytes from which on a string without a space may be one
)

// pictured returns how many bytes of a message are pictures and other encoded files, and how many there are.
func pictured(raw []byte) (size, n int) {
	quote := []byte{'"'}
	for {
		_, rest, _ := bytes.Cut(raw, quote)
		text, after, closed := bytes.Cut(rest, quote) // of a string with escapes, only a part
		if !closed {
			return size, n
		}
		if len(text) >= leastPicture && encoded(text) {
			size, n = size+len(text), n+1
		}
		raw = after
	}
}

// encoded reports whether a long string is base64, perhaps behind the beginning of a data URL.
func encoded(s []byte) bool {
	if at := bytes.Index(s[:min(len(s), 200)], []byte("base64,")); at >= 0 {
		s = s[at+len("base64,"):]
	}
	for _, c := range s[:min(len(s), leastPicture/2)] {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '-', c == '_', c == '=':
		default:
			return false
		}
	}
	return true
}
