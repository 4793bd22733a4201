package summary

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of what a summary may name that is not in what it replaces. One name alone is let through: "and/or" or
// the name of a product looks like one. From the second one on they must be few among all names: a model that invents
// does so again and again. And however many names a long summary has, more than a handful are not slips.
const (
	mostUnknown  = 5
	unknownShare = 20 // percent
)

// largestShare is by how much a summary is at least smaller than what it replaces.
const largestShare = 3

// ErrRefused is why a summary must not be used.
var ErrRefused = errors.New("the summary is refused")

// Refuse returns an error if a summary must not stand in place of a text.
func Refuse(text, replaced string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("%w: it is empty", ErrRefused)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: it is no valid text", ErrRefused)
	}
	if len(text) > len(replaced)/largestShare {
		return fmt.Errorf("%w: it is longer than a third of what it replaces", ErrRefused)
	}
	for _, head := range headings() {
		if !hasLine(text, head) {
			return fmt.Errorf("%w: it has no section %q", ErrRefused, head)
		}
	}
	unknown, all := check(text, replaced)
	if n := len(unknown); n > mostUnknown || n > 1 && n*100 > all*unknownShare {
		return fmt.Errorf("%w: %d of the %d names in it are not in the conversation, such as %.60q",
			ErrRefused, n, all, unknown[0])
	}
	return nil
}

// hasLine reports whether a text has a line.
func hasLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, " \t\r\n") == want {
			return true
		}
	}
	return false
}

// check returns the files and identifiers that a summary names and that are not in what it replaces, once each, and how
// many different names there are.
func check(text, replaced string) (unknown []string, all int) {
	names := namesIn(text)
	if len(names) == 0 {
		return nil, 0
	}
	known := map[string]bool{}
	for _, name := range namesIn(replaced) {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] && !holds(replaced, name) {
			unknown = append(unknown, name)
		}
	}
	return unknown, len(names)
}

// holds reports whether a text has a name that is not a part of a longer word. It may be the end of a path.
func holds(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		at = i + size
	}
}

// inWord reports whether a name goes on with a rune.
func inWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// namesIn returns the names in a text in order, once each.
func namesIn(text string) []string {
	var names []string
	seen := map[string]bool{}
	for len(text) > 0 {
		start := strings.IndexFunc(text, inName)
		if start < 0 {
			break
		}
		text = text[start:]
		end := strings.IndexFunc(text, func(r rune) bool { return !inName(r) })
		if end < 0 {
			end = len(text)
		}
		name := strings.Trim(text[:end], "./-")
		text = text[end:]
		if !seen[name] && isName(name, strings.HasPrefix(text, "()")) {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func inName(r rune) bool { return inWord(r) || r == '/' || r == '.' || r == '-' }

// isName reports whether a word names a file or something in code, and is not a word of prose or a number.
func isName(word string, called bool) bool {
	if strings.IndexFunc(word, unicode.IsLetter) < 0 {
		return false
	}
	return called || strings.ContainsAny(word, "/_") || hasExtension(word) || camelCase(word)
}

// mostExtension is the length of the longest extension of a file.
const mostExtension = 10

// hasExtension reports whether a word ends like a file. "e.g" does not.
func hasExtension(word string) bool {
	at := strings.LastIndexByte(word, '.')
	if at <= 0 || len(word)-at-1 > mostExtension || at == 1 && len(word) == len("e.g") {
		return false
	}
	return strings.IndexFunc(word[at+1:], unicode.IsLetter) == 0
}

// camelCase reports whether a small letter is followed by a capital one.
func camelCase(word string) bool {
	small := false
	for _, r := range word {
		if small && unicode.IsUpper(r) {
			return true
		}
		small = unicode.IsLower(r)
	}
	return false
}
