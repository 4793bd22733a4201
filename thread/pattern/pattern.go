// Package pattern holds regular expressions that are compiled when they are first used. A program that answers one
// verb and ends, as hooks and scripts make it do many times a minute, compiles none that it does not need.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns the expression, compiled by the first call that asks for it. Like [regexp.MustCompile], that call
// panics where the expression is wrong.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
