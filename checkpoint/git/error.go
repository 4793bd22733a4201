package git

import (
	"fmt"
	"strings"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// Error is a failure of git.
type Error struct {
	Command string // the subcommand
	Code    int    // exit code
	Stderr  string // the last 8 KB, as git wrote it, without credentials in URLs
}

// Error returns git's message on one line, without control characters.
func (e *Error) Error() string {
	lines := strings.FieldsFunc(e.Stderr, func(r rune) bool { return r == '\n' || r == '\r' })
	said := Printable(strings.Join(lines, "; "))
	if said == "" {
		return fmt.Sprintf("git %s: exit code %d", e.Command, e.Code)
	}
	if len(said) > 600 {
		said = strings.ToValidUTF8(said[:600], "") + "…"
	}
	return fmt.Sprintf("git %s: %s", e.Command, said)
}

// Is translates git's messages about the disk and the repository into the domain's errors.
func (e *Error) Is(target error) bool {
	switch target {
	case thread.ErrDiskFull:
		return strings.Contains(e.Stderr, "No space left on device") || strings.Contains(e.Stderr, "Disk quota exceeded") ||
			strings.Contains(e.Stderr, "Out of diskspace")
	case thread.ErrReadOnly:
		return strings.Contains(e.Stderr, "Read-only file system") || strings.Contains(e.Stderr, "insufficient permission")
	case thread.ErrNoRepository:
		return strings.Contains(e.Stderr, "not a git repository")
	}
	return false
}

// withUser finds URLs with a user.
var withUser = pattern.Lazy(`([A-Za-z][A-Za-z0-9+.-]*)://([^\s/@'"]*(?:@[^\s/@'"]*)*)@`)

// Redact removes the credentials from URLs in a text: all of them for HTTP, where the user name may be a token, and the
// passwords of others.
func Redact(s string) string {
	return withUser().ReplaceAllStringFunc(s, func(address string) string {
		m := withUser().FindStringSubmatch(address)
		name, _, password := strings.Cut(m[2], ":")
		switch scheme := strings.ToLower(m[1]); {
		case strings.HasPrefix(scheme, "http") || strings.HasPrefix(scheme, "ftp"):
			return m[1] + "://***@"
		case password:
			return m[1] + "://" + name + ":***@"
		}
		return address
	})
}

// Printable returns s without characters that could affect a terminal: control, format and private-use characters and
// bytes that are not UTF-8 become "?".
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || (r != ' ' && !unicode.IsGraphic(r)) {
			return '?'
		}
		return r
	}, s)
}

// PrintableList names the first of many, each as Printable.
func PrintableList(names []string) string {
	const most = 10
	shown := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, Printable(name))
	}
	if len(names) > most {
		shown = append(shown, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(shown, ", ")
}
