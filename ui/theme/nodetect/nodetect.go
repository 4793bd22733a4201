// Package nodetect keeps Lip Gloss from starting a process whenever the program starts.
//
// Lip Gloss makes a writer for standard output while its package is initialised. On a terminal inside tmux
// that runs `tmux info`, for every verb and before main. This package hides tmux from it: its init runs first,
// because Go initialises packages that are ready in the order of their paths, this one needs nothing but
// syscall, and Lip Gloss needs os, whose path is behind this one's. Whoever imports both calls Restore when
// it is initialised itself, which is after Lip Gloss.
package nodetect

import "syscall"

const name = "TMUX"

// hidden is the variable's value while it is hidden.
var hidden string

func init() {
	if v, set := syscall.Getenv(name); set && syscall.Unsetenv(name) == nil {
		hidden = v
	}
}

// Restore puts the environment back as it was.
func Restore() {
	if hidden != "" {
		_ = syscall.Setenv(name, hidden)
		hidden = ""
	}
}
