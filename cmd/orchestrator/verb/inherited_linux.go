package verb

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeInheritedOnExec keeps files that the caller left open in this process from being inherited by what it starts: a
// server must not hold a shell's locks and pipes for as long as it lives.
func closeInheritedOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for fd := 3; fd < 1024; fd++ { // kernels before 5.11
		unix.CloseOnExec(fd)
	}
}
