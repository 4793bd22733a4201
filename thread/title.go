package thread

import (
	"cmp"
	"strings"
	"unicode"

	"orchestrator/thread/plaintext"
)

// maxTitle is the most letters of a title.
const maxTitle = 80

// Titled returns the display name for a name that a person typed: on one line, without characters that are invisible or
// reorder text. It is "" if the slug has the same words: then the name says it.
func Titled(typed string) string {
	seen := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar:
			return -1
		case plaintext.Visible(r), r == 0x200d, r == 0xfe0f: // joiners and emoji variants
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

// visible reports whether a letter, digit or symbol can be a thread's name by itself.
func visible(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) && r > unicode.MaxASCII
}

// DisplayName is how people see a thread: its title, or its name.
func (t Thread) DisplayName() string { return cmp.Or(t.Title, t.Name) }

// TypedName is a thread's name as the person typed it, for lists: without what makes it unique.
func (t Thread) TypedName() string {
	if t.Title != "" {
		return t.Title
	}
	slug := t.Name
	if i := strings.LastIndexByte(slug, '-'); i > 0 && len(slug)-i == 5 && isHex(slug[i+1:]) {
		slug = slug[:i]
	}
	if label := strings.Join(strings.Fields(t.Label), " "); Slug(label) == slug && Titled(label) == "" {
		return cmp.Or(label, slug)
	}
	return slug
}

// isHex reports whether a text has hexadecimal digits only, as names end in.
func isHex(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

// Called reports whether ref is the thread's title, or the beginning of it.
func (t Thread) Called(ref string) (whole, begins bool) {
	if ref == "" {
		return false, false
	}
	ref = strings.ToLower(ref)
	if t.Title == "" { // it is called what its name was made of
		slug := t.Name
		if i := strings.LastIndexByte(slug, '-'); i > 0 {
			slug = slug[:i]
		}
		return strings.ToLower(t.Label) == ref || slug == ref, false
	}
	title := strings.ToLower(t.Title)
	return title == ref, strings.HasPrefix(title, ref)
}
