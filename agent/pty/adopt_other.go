//go:build !linux

package pty

// adoptOrphans does nothing: only Linux has subreapers.
func adoptOrphans() {}

// keepDescriptors does nothing: our own descriptors are made close-on-exec.
func keepDescriptors() {}

func ownSession() int { return 0 }

func endedChildren() []proc { return nil }
