// Package nodetect keeps libraries from looking around whenever the program starts.
//
// Lip Gloss makes a writer for standard output while its package is initialised. On a terminal inside tmux
// that runs `tmux info`, for every verb and before main. The clipboard that the text fields of Bubbles use, and
// this program does not, looks for six programs in every folder of PATH. This package hides both variables from
// them: its init runs first, because Go initialises packages that are ready in the order of their paths, this one
// needs nothing but syscall, and they need os, whose path is behind this one's. Whoever imports it and them calls
// Restore when it is initialised itself, which is after them.
package nodetect

import "syscall"

// variable is one that is hidden, with its value.
type variable struct{ name, value string }

// hidden are those that were set.
var hidden []variable

func init() {
	for _, name := range []string{"TMUX", "PATH"} {
		if v, set := syscall.Getenv(name); set && syscall.Unsetenv(name) == nil {
			hidden = append(hidden, variable{name, v})
		}
	}
}

// Restore puts the environment back as it was.
func Restore() {
	for _, v := range hidden {
		_ = syscall.Setenv(v.name, v.value)
	}
	hidden = nil
}
