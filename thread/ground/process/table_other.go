//go:build !linux

package process

// All finds none: the processes of others are looked for on Linux only.
func All() []Info { return nil }

// Boot is not known.
func Boot() string { return "" }
