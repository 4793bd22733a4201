package git

import (
	"fmt"
	"strings"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
	"orchestrator/thread/plaintext"
)

// Error is a failure of git.
type Error struct {
	Command string // the subcommand
	Code    int    // exit code
	Stderr  string // the last 8 KB, as git wrote it, without credentials in URLs
}

// damage finds what git says of an object that it cannot read, in its several ways.
var damage = pattern.Lazy(`(?m)loose object ([0-9a-f]{40,64})|unable to unpack ([0-9a-f]{40,64}) header|header for ([0-9a-f]{40,64}) too long|` +
	`([0-9a-f]{40,64}): object corrupt or missing|hash mismatch ([0-9a-f]{40,64})|unable to read (?:tree |commit |blob )?\(?([0-9a-f]{40,64})|` +
	`objects/([0-9a-f]{2}/[0-9a-f]{38,62})(?: is empty|: inflate)|packed object ([0-9a-f]{40,64})|` +
	`(?:unpack tree object|[Cc]ould not read|missing (?:blob|tree|commit)(?: object)?) '?([0-9a-f]{40,64})|` +
	`bad (?:tree |blob |commit )?object ([0-9a-f]{40,64})|inflate: data stream error|packfile \S+ .*(?:corrupt|does not match|cannot be mapped)`)

// Damaged returns the object that git could not read; false if that was not why it failed, and "" if git does not say which.
func (e *Error) Damaged() (object string, ok bool) {
	for _, m := range damage().FindAllStringSubmatch(e.Stderr, -1) {
		ok = true
		for _, id := range m[1:] {
			if id != "" {
				return strings.ReplaceAll(id, "/", ""), true
			}
		}
	}
	return "", ok
}

// damagedHint is what a person can do about an object that git cannot read.
const damagedHint = "`git fsck` lists what is damaged; git fetch, or a copy of the file from another clone, brings it back"

// failed returns the error of git, with what helps.
func failed(e *Error) error {
	if _, damaged := e.Damaged(); damaged {
		return thread.Hint(e, damagedHint)
	}
	return e
}

// Error returns git's message on one line, without control characters.
func (e *Error) Error() string {
	if object, damaged := e.Damaged(); damaged {
		if object == "" {
			return fmt.Sprintf("git %s: an object of the repository is damaged or missing", e.Command)
		}
		return fmt.Sprintf("git %s: object %.12s of the repository is damaged or missing", e.Command, object)
	}
	lines := strings.FieldsFunc(e.Stderr, func(r rune) bool { return r == '\n' || r == '\r' })
	said := Printable(strings.Join(lines, "; "))
	if said == "" {
		return fmt.Sprintf("git %s: exit code %d", e.Command, e.Code)
	}
	return fmt.Sprintf("git %s: %s", e.Command, plaintext.Short(said, 600))
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
