//go:build !linux

package pty

import "orchestrator/thread/ground/process"

// adoptOrphans does nothing: only Linux has subreapers.
func adoptOrphans() {}

// keepDescriptors does nothing: our own descriptors are made close-on-exec.
func keepDescriptors() {}

func ownSession() int { return 0 }

// anyEnded reports true: only Linux is asked.
func anyEnded() bool { return true }

func endedChildren() []process.Info { return nil }
