//go:build !linux

package verb

import "golang.org/x/sys/unix"

// closeInheritedOnExec keeps files that the caller left open in this process from being inherited by what it starts: a
// server must not hold a shell's locks and pipes for as long as it lives.
func closeInheritedOnExec() {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
}
