// Package nodetect keeps libraries from probing the environment at every start of the program.
//
// During its initialisation, Lip Gloss creates a writer for standard output. Inside tmux that runs `tmux info`, for
// every verb and before main. The clipboard package of Bubbles' text fields, which this program does not use, looks for
// six programs in every folder of PATH. This package hides both variables from them. Its init runs first, because Go
// initialises ready packages in the order of their paths, this one depends only on syscall, and they depend on os,
// whose path is after this one's. A package that imports it and them must call Restore in its own init, which runs
// after theirs.
package nodetect

import "syscall"

// variable is a hidden variable with its value.
type variable struct{ name, value string }

// hidden has the variables that were set.
var hidden []variable

func init() {
	for _, name := range []string{"TMUX", "PATH"} {
		if v, set := syscall.Getenv(name); set && syscall.Unsetenv(name) == nil {
			hidden = append(hidden, variable{name, v})
		}
	}
}

// Restore restores the environment.
func Restore() {
	for _, v := range hidden {
		_ = syscall.Setenv(v.name, v.value)
	}
	hidden = nil
}
