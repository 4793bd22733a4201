package wire

import (
	"encoding/json"
	"unicode/utf8"

	"orchestrator/thread"
)

// Instructor is a Scanner that knows how an agent sends its files of instructions among the items. Optional for a Scanner.
type Instructor interface {
	Scanner
	// Instructions returns the files of instructions in items, in order, if one of them was read again. What may be a text
	// of the person or of the model is left out.
	Instructions(items []thread.Item) []Instructions
	// Heading returns what stands before the text of a file as long as it is one of instructions, as it is written in an
	// item.
	Heading(path string) []byte
}

// Instructions are a file of instructions in an item.
type Instructions struct {
	Span       // of the text in the item, inside of a string
	Item  int  // the index of the item
	Again bool // the agent says that it read its files again: there may be an earlier copy
	Path  string
	Kind  string // whose it is, in the agent's words
	Text  string
}

// Part returns where in a string of JSON the part of its text from one offset up to another stands, false if that cannot
// be said.
func Part(raw json.RawMessage, from, to int) (Span, bool) {
	whole, ok := text(raw)
	inside := func(offset int) bool { return offset < len(whole) && !utf8.RuneStart(whole[offset]) }
	if !ok || from < 0 || to < from || to > len(whole) || inside(from) || inside(to) {
		return Span{}, false
	}
	start, ok := written(raw, from)
	if !ok {
		return Span{}, false
	}
	end, ok := written(raw, to)
	if !ok {
		return Span{}, false
	}
	part, ok := text(append(append([]byte{'"'}, raw[start:end]...), '"'))
	return Span{start, end}, ok && part == whole[from:to]
}

// written returns where in a string of JSON an offset of its text is.
func written(raw json.RawMessage, offset int) (int, bool) {
	at, n := 1, 0
	for n < offset && at < len(raw)-1 {
		switch {
		case raw[at] != '\\':
			at, n = at+1, n+1
		case raw[at+1] != 'u':
			at, n = at+2, n+1
		default:
			size := len(`\u0000`)
			if surrogate(raw[at:]) {
				size *= 2
			}
			one, ok := text(append(append([]byte{'"'}, raw[at:min(at+size, len(raw)-1)]...), '"'))
			if !ok {
				return 0, false
			}
			at, n = at+size, n+len(one)
		}
	}
	return at, n == offset
}

// surrogate reports whether an escape is the first of two that make one character.
func surrogate(raw []byte) bool {
	const pair = len(`\ud800\udc00`)
	is := func(b []byte, from, to byte) bool {
		third := b[3] | 0x20
		return b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && third >= from && third <= to
	}
	return len(raw) >= pair && (is(raw, '8'|0x20, '9'|0x20) || is(raw, 'a', 'b')) && is(raw[pair/2:], 'c', 'f')
}
