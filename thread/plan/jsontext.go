package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep a JSON value may be nested.
const maxDepth = 256

// jsonError says where a text stops being JSON.
type jsonError struct {
	at   int // in the text
	what string
	cut  bool // the text ends within the value
}

func (e *jsonError) Error() string { return e.what }

// place returns a place of a text as people count: the line, and the character in it.
func place(text string, at int) string {
	before := text[:min(at, len(text))]
	line := strings.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("line %d, character %d", strings.Count(before, "\n")+1, utf8.RuneCountInString(before[line:])+1)
}

// member is a member of a JSON object, with its value as the text has it.
type member struct {
	key   string
	value string
}

// scanner reads JSON values from a text without changing a byte of them. It takes time by the length of the text, and
// memory by its depth.
type scanner struct {
	text string
	at   int
	// open are the brackets that are open.
	open []byte
}

// value returns the JSON value that begins at a place, which has no space before it, and where it ends.
func value(text string, at int) (end int, err *jsonError) {
	s := &scanner{text: text, at: at}
	if err := s.value(); err != nil {
		return s.at, err
	}
	return s.at, nil
}

// fail says what is wrong at the place where it is.
func (s *scanner) fail(what string) *jsonError {
	if s.at >= len(s.text) {
		return &jsonError{at: s.at, what: "the text ends within it", cut: true}
	}
	return &jsonError{at: s.at, what: what}
}

// space goes on to what is no white space.
func (s *scanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// is reports whether a byte is next, and goes on behind it then.
func (s *scanner) is(b byte) bool {
	if s.at < len(s.text) && s.text[s.at] == b {
		s.at++
		return true
	}
	return false
}

// value goes on behind a value. What is nested is counted, not called, so that no depth can end the program.
func (s *scanner) value() *jsonError {
	for {
		opened, err := s.begin()
		if err != nil {
			return err
		}
		for !opened { // a value has ended: what follows on it?
			if len(s.open) == 0 {
				return nil
			}
			s.space()
			inner := s.open[len(s.open)-1]
			if s.is(inner) {
				s.open = s.open[:len(s.open)-1]
				continue
			}
			if !s.is(',') {
				return s.fail(fmt.Sprintf("a comma or %c should follow here", inner))
			}
			s.space()
			if inner == '}' {
				if err := s.key(); err != nil {
					return err
				}
			}
			break
		}
	}
}

// begin goes on behind a value that has no others, or to the first one within: opened then.
func (s *scanner) begin() (opened bool, err *jsonError) {
	switch {
	case s.is('{'):
		if s.space(); s.is('}') {
			return false, nil
		}
		if err := s.nest('}'); err != nil {
			return false, err
		}
		return true, s.key()
	case s.is('['):
		if s.space(); s.is(']') {
			return false, nil
		}
		return true, s.nest(']')
	case s.at < len(s.text) && s.text[s.at] == '"':
		_, err := s.str()
		return false, err
	default:
		return false, s.word()
	}
}

func (s *scanner) nest(closing byte) *jsonError {
	if len(s.open) == maxDepth {
		return &jsonError{at: s.at, what: fmt.Sprintf("it is nested deeper than %d", maxDepth)}
	}
	s.open = append(s.open, closing)
	return nil
}

// key goes on behind a key of an object and its colon.
func (s *scanner) key() *jsonError {
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		return s.fail(`a key in "quotes" should stand here`)
	}
	if _, err := s.str(); err != nil {
		return err
	}
	if s.space(); !s.is(':') {
		return s.fail("a colon should follow on the key")
	}
	s.space()
	return nil
}

// str goes on behind a string, and returns it as the text has it.
func (s *scanner) str() (string, *jsonError) {
	from := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[from:s.at], nil
		case c < ' ':
			return "", s.fail(`a string goes over the end of its line: write \n for a new line, \t for a tab`)
		case c == '\\':
			if s.at++; s.at >= len(s.text) {
				return "", s.fail("")
			}
			if s.text[s.at] == 'u' {
				for range 4 {
					if s.at++; s.at >= len(s.text) || !strings.ContainsRune("0123456789abcdefABCDEF", rune(s.text[s.at])) {
						return "", s.fail(`four hex digits should follow on \u`)
					}
				}
			} else if strings.IndexByte(`"\/bfnrt`, s.text[s.at]) < 0 {
				return "", s.fail(`there is no such escape: write \\ for a backslash`)
			}
		}
	}
	return "", s.fail("")
}

// word goes on behind a number, true, false or null.
func (s *scanner) word() *jsonError {
	end := s.at
	for end < len(s.text) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", s.text[end]) >= 0 {
		end++
	}
	word := s.text[s.at:end]
	if end > s.at && json.Valid([]byte(word)) {
		s.at = end
		return nil
	}
	if end == len(s.text) && end > s.at {
		return &jsonError{at: end, what: "the text ends within it", cut: true}
	}
	return s.fail("a value should stand here")
}

// members returns the members of an object that value has found to be one.
func members(object string) []member {
	s := &scanner{text: object, at: 1}
	var list []member
	for s.space(); !s.is('}'); s.space() {
		quoted, _ := s.str()
		var m member
		_ = json.Unmarshal([]byte(quoted), &m.key) // it has been read before
		s.space()
		s.is(':')
		s.space()
		from := s.at
		_ = s.value()
		m.value = object[from:s.at]
		list = append(list, m)
		s.space()
		s.is(',')
	}
	return list
}
