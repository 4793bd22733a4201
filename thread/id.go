package thread

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
)

// ID identifies a thread for good; people see its name instead. 16 hex digits.
type ID string

// Check rejects an id that we could not have made: ids name folders and refs, and others may have written the store. It
// accepts letters, digits, hyphens and underscores, at most 64, not starting with a hyphen.
func (id ID) Check() error { return checkID("thread", string(id)) }

func checkID(what, id string) error {
	ok := id != "" && len(id) <= 64 && id[0] != '-' && id[0] != '_'
	for _, c := range []byte(id) {
		ok = ok && (c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_')
	}
	if !ok {
		return fmt.Errorf("%s id %q: %w", what, id, ErrInvalid)
	}
	return nil
}

// CheckpointID identifies a checkpoint for good. 16 hex digits.
type CheckpointID string

// ExecutionID identifies one run of an agent process. 16 hex digits.
type ExecutionID string

// NewID returns 16 random hex digits, for any of the id types.
func NewID[T ~string]() T {
	var b [8]byte
	rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return T(hex.EncodeToString(b[:]))
}

// maxSlug is the longest slug in a name, in runes; the name is five longer.
const maxSlug = 32

// NewName makes a thread's name, {slug}-{4 hex}, from a label or the first words of a prompt. Two calls with the same
// text differ in the hex digits.
func NewName(text string) string {
	var b [2]byte
	rand.Read(b[:])
	return Slug(text) + "-" + hex.EncodeToString(b[:])
}

// Slug turns a text into lower-case ASCII words joined by hyphens, at most 32 characters long, or "thread" if nothing
// is left.
func Slug(text string) string {
	var s strings.Builder
	gap := false
	for _, r := range strings.ToLower(text) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if gap && s.Len() > 0 {
				s.WriteByte('-')
			}
			gap = false
			s.WriteRune(r)
		default:
			gap = true
		}
		if s.Len() >= maxSlug {
			break
		}
	}
	out := s.String()
	if len(out) > maxSlug {
		out = out[:maxSlug]
	}
	if cut := strings.LastIndexByte(out, '-'); len(out) == maxSlug && cut > maxSlug/2 {
		out = out[:cut] // end at a word boundary
	}
	out = strings.Trim(out, "-")
	if out == "" {
		return "thread"
	}
	return out
}
