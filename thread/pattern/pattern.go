// Package pattern contains regular expressions that are compiled on first use. Hooks and scripts run a single verb of
// the program many times a minute, and compile only the expressions they need.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that compiles the expression at its first call. Like [regexp.MustCompile], it panics if the
// expression is invalid.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
