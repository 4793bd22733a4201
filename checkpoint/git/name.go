package git

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// maxBranch is the longest branch name in bytes; file systems allow 255 per path element.
const maxBranch = 200

// CheckBranch refuses names that git would not accept for a branch, and those that it would accept but that look like
// options, revisions, or something else. The error is a thread.ErrInvalid with the reason.
func CheckBranch(name string) error {
	if why := refuse(name); why != "" {
		return fmt.Errorf("branch name %q %s: %w", plaintext.Short(Printable(name), 60), why, thread.ErrInvalid)
	}
	return nil
}

func refuse(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxBranch:
		return fmt.Sprintf("is %d bytes long, the limit is %d", len(name), maxBranch)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case name == "@" || strings.EqualFold(name, "HEAD"):
		return "is git's name for the current commit"
	case strings.Contains(name, ".."):
		return "contains two consecutive dots"
	case strings.Contains(name, "@{"):
		return "contains @{, which is reflog syntax"
	case strings.Contains(name, "//") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/"):
		return "has an empty part between slashes"
	case strings.HasSuffix(name, "."):
		return "ends with a dot"
	}
	for _, r := range name {
		if why := refuseRune(r); why != "" {
			return why
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case strings.HasPrefix(part, "-"):
			return "looks like an option"
		case strings.HasPrefix(part, "."):
			return "has a part that begins with a dot"
		case strings.HasSuffix(strings.ToLower(part), ".lock"):
			return "has a part that ends with .lock"
		}
	}
	return ""
}

func refuseRune(r rune) string {
	switch {
	case r == ' ' || unicode.IsSpace(r):
		return fmt.Sprintf("contains white space (%U)", r)
	case strings.ContainsRune("~^:?*[\\", r):
		return fmt.Sprintf("contains %q, which git does not allow", r)
	case strings.ContainsRune(";&|<>$`\"'(){}!#", r):
		return fmt.Sprintf("contains the shell metacharacter %q", r)
	case !unicode.IsPrint(r):
		return fmt.Sprintf("contains the unprintable character %U", r)
	}
	return ""
}

// IsObjectID reports whether s is a full object id, SHA-1 or SHA-256, in lower-case hex.
func IsObjectID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
