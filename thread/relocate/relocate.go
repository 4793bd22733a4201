// Package relocate rewrites the paths of some folders in a text to other folders.
//
// It guarantees that the result contains none of the old folders, as far as they are written as absolute paths, and
// that a folder whose name merely begins like one of them stays unchanged.
package relocate

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Folders maps folders to where their files are now.
type Folders struct {
	from []string // longest first
	to   map[string]string
}

// New returns a rewriter for moved, which maps each folder to the one that has its files now. A folder that is mapped
// to itself keeps its name, and so do those inside it.
func New(moved map[string]string) Folders {
	f := Folders{to: make(map[string]string, 2*len(moved))}
	for from, to := range moved {
		if !filepath.IsAbs(from) || len(filepath.Clean(from)) < 2 {
			continue
		}
		f.to[filepath.Clean(from)] = filepath.Clean(to)
	}
	for from, to := range maps.Clone(f.to) { // programs also name the target of a link
		real, err := filepath.EvalSymlinks(from)
		if _, known := f.to[real]; err == nil && !known && len(real) > 1 {
			f.to[real] = to
		}
	}
	f.from = slices.SortedFunc(maps.Keys(f.to), func(a, b string) int {
		return cmp.Or(len(b)-len(a), cmp.Compare(a, b))
	})
	return f
}

// Text returns a text with its paths rewritten.
func (f Folders) Text(s string) string {
	if len(f.from) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '/')
		if i < 0 {
			break
		}
		at += i
		from := f.at(s, at)
		if from == "" {
			at++
			continue
		}
		b.WriteString(s[done:at])
		b.WriteString(f.to[from])
		at += len(from)
		done = at
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// at returns the folder whose name begins at an offset of a text, "" if there is none.
func (f Folders) at(s string, at int) string {
	if !begins(s[:at]) {
		return ""
	}
	for _, from := range f.from {
		if strings.HasPrefix(s[at:], from) && ends(s[at+len(from):]) {
			return from
		}
	}
	return ""
}

// begins reports whether an absolute path can begin after a text.
func begins(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case before == "":
		return true
	case strings.HasSuffix(before, "file://"):
		return true
	case strings.ContainsRune("ntr", r) && strings.HasSuffix(before[:len(before)-1], `\`):
		return true // a line break as JSON writes it
	case r == '/' || r == '.' || r == '-' || r == '~':
		return false
	case !word(r):
		return true
	}
	// -I/folder
	flag := before[:len(before)-utf8.RuneLen(r)]
	dash, ok := strings.CutSuffix(flag, "-")
	last, _ := utf8.DecodeLastRuneInString(dash)
	return ok && (dash == "" || unicode.IsSpace(last) || strings.ContainsRune(`"'=[(`, last))
}

// ends reports whether a path element ends before a text.
func ends(after string) bool {
	r, n := utf8.DecodeRuneInString(after)
	switch {
	case after == "" || r == '/':
		return true
	case r == '.': // the end of a sentence, or part of a name
		next, _ := utf8.DecodeRuneInString(after[n:])
		return len(after) == n || !word(next) && next != '.'
	default:
		return !word(r) && !strings.ContainsRune("-+~", r)
	}
}

func word(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
