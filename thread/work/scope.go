package work

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
)

const (
	// longScope is how many characters a scope has at most that people read in a list, and maxScope how many bytes it may have.
	longScope = 200
	maxScope  = 8 << 10
)

// CheckScope returns a warning for a scope that is longer than people read, "" for none. One that is empty or has more than
// 8 KiB is refused with thread.ErrInvalid: what is to be read belongs into a file or the prompt.
func CheckScope(scope string) (warning string, err error) {
	switch n := utf8.RuneCountInString(scope); {
	case strings.TrimSpace(scope) == "":
		return "", thread.Hint(thread.Kindf(thread.ErrInvalid, "the scope is empty"), `say in a sentence what it is for, such as "Fix the login"`)
	case len(scope) > maxScope:
		return "", thread.Hint(thread.Kindf(thread.ErrInvalid, "the scope has %s, the limit is %s", thread.Bytes(int64(len(scope))), thread.Bytes(maxScope)),
			"say in a sentence what it is for, and give the rest as context or as the prompt")
	case n > longScope:
		return fmt.Sprintf("the scope has %d characters: lists show %d. One sentence is found again more easily", n, longScope), nil
	default:
		return "", nil
	}
}
