//go:build !linux

package main

import "golang.org/x/sys/unix"

// keepToOurselves keeps files that the caller left open in this process from what it starts: a server must not
// hold a shell's locks and pipes for as long as it lives.
func keepToOurselves() {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
}
