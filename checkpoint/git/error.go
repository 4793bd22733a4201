package git

import (
	"fmt"
	"strings"
	"unicode"

	"orchestrator/thread"
)

// Error is git saying no.
type Error struct {
	Command string // the subcommand
	Code    int    // exit code
	Stderr  string // the last 8 KB, as git wrote it
}

// Error shows what git said in one line, without control characters.
func (e *Error) Error() string {
	said := Printable(strings.Join(strings.FieldsFunc(e.Stderr, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
	if said == "" {
		return fmt.Sprintf("git %s: exit code %d", e.Command, e.Code)
	}
	if len(said) > 600 {
		said = strings.ToValidUTF8(said[:600], "") + "…"
	}
	return fmt.Sprintf("git %s: %s", e.Command, said)
}

// Is translates what git says about the disk and the repository into the domain's errors.
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

// Printable returns s without what could act on a terminal: control, format and private-use characters and
// bytes that are no UTF-8 become "?".
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || (r != ' ' && !unicode.IsGraphic(r)) {
			return '?'
		}
		return r
	}, s)
}
