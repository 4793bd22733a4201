package thread

import (
	"cmp"
	"strings"
	"unicode"

	"orchestrator/thread/plaintext"
)

// maxTitle is how many letters of a title are kept.
const maxTitle = 80

// Titled returns what a thread is shown as that a person calls so: what was typed, on one line, without what nobody
// sees and what reorders text. It is empty where the slug has the same words: then the name says it.
func Titled(typed string) string {
	seen := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar:
			return -1
		case plaintext.Visible(r), r == 0x200d, r == 0xfe0f: // joiners and forms of emoji
			return r
		}
		return -1
	}, typed)
	title := strings.Join(strings.Fields(seen), " ")
	if !strings.ContainsFunc(title, visible) || strings.ReplaceAll(strings.ToLower(title), " ", "-") == Slug(title) {
		return ""
	}
	if r := []rune(title); len(r) > maxTitle {
		title = strings.TrimSpace(string(r[:maxTitle-1])) + "…"
	}
	return title
}

// visible reports whether a letter, digit or sign can be a thread's name by itself.
func visible(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) && r > unicode.MaxASCII
}

// DisplayName is what people are shown a thread as: what they called it, or its name.
func (t Thread) DisplayName() string { return cmp.Or(t.Title, t.Name) }

// Called reports whether a thread is called so, or so in the beginning.
func (t Thread) Called(ref string) (whole, begins bool) {
	if t.Title == "" || ref == "" {
		return false, false
	}
	title, ref := strings.ToLower(t.Title), strings.ToLower(ref)
	return title == ref, strings.HasPrefix(title, ref)
}
