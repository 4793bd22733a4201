package work

import (
	"fmt"
	"strings"

	"orchestrator/thread"
)

// nameEnd is the longest name that a person may choose.
const nameEnd = 64

// Numbered returns the name of the project's n-th execution: "exec-001", "exec-1000".
func Numbered(n int64) string { return NumberedAs(KindRun.Prefix(), n) }

// The beginnings of the names that stores give to work sessions and to bundles.
const (
	SessionPrefix = "work"
	BundlePrefix  = "bundle"
)

// NumberedAs returns the n-th name with a prefix: "work-001".
func NumberedAs(prefix string, n int64) string { return fmt.Sprintf("%s-%03d", prefix, n) }

// CheckName refuses a name that a person may not choose, with thread.ErrInvalid. Names like exec-001 are the project's
// to give, and 16 hex digits would look like an ID.
func CheckName(name string) error {
	if given(name) {
		return refuseName(name, "names like exec-001 are given by the project")
	}
	return CheckOwnName(name)
}

// CheckOwnName refuses a name that cannot be chosen for what people number themselves: work sessions, and executions that
// are written down by hand. They may be called exec-001.
func CheckOwnName(name string) error {
	problem := ""
	switch {
	case name == "":
		problem = "it is empty"
	case len(name) > nameEnd:
		problem = fmt.Sprintf("it has %d characters, the limit is %d", len(name), nameEnd)
	case strings.ContainsFunc(name, func(r rune) bool { return !letter(r) && !digit(r) && !strings.ContainsRune("-_.", r) }):
		problem = "it may have letters, digits, hyphens, underscores and dots only"
	case !letter(rune(name[0])) && !digit(rune(name[0])):
		problem = "it must begin with a letter or a digit"
	case looksLikeID(name):
		problem = "16 hex digits are an id"
	}
	if problem == "" {
		return nil
	}
	return refuseName(name, problem)
}

func refuseName(name, problem string) error {
	return thread.Hint(thread.Kindf(thread.ErrInvalid, "name %s: %s", thread.Excerpt(fmt.Sprintf("%q", name)), problem),
		"choose another, such as review-1")
}

// given reports whether a name is one that the project gives.
func given(name string) bool {
	number, found := strings.CutPrefix(strings.ToLower(name), "exec-")
	return found && number != "" && !strings.ContainsFunc(number, func(r rune) bool { return !digit(r) })
}

// looksLikeID reports whether a name could be an ID.
func looksLikeID(name string) bool {
	return len(name) == 16 && !strings.ContainsFunc(strings.ToLower(name), func(r rune) bool {
		return !digit(r) && (r < 'a' || r > 'f')
	})
}

func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func digit(r rune) bool { return r >= '0' && r <= '9' }
