package process

import (
	"context"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// endLimit is how long processes are killed: one that is may just have started another, and one in the kernel's D state
// ends later.
const endLimit = 5 * time.Second

// start is one process: the pid alone may be used again.
type start struct {
	pid   int
	start uint64
}

// End ends what find returns, until it returns nothing: with SIGTERM, and with SIGKILL once the grace is over, when each
// is stopped first, so that it starts no more while the others die. It returns how many processes there were, and how
// many are left, because they cannot be killed or ctx has ended.
func End(ctx context.Context, grace time.Duration, find func() []Info) (found, left int) {
	asked := make(map[start]unix.Signal)
	for begin, wait := time.Now(), time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		all := find()
		past := time.Since(begin)
		if len(all) == 0 || past > grace+endLimit {
			return len(asked), len(all)
		}
		all = slices.DeleteFunc(all, func(p Info) bool { return p.Ended })
		now, then, grows := unix.SIGTERM, unix.SIGCONT, false // a stopped process handles no SIGTERM
		if past >= grace {
			now, then = unix.SIGSTOP, unix.SIGKILL
		}
		for _, p := range all {
			if then == unix.SIGKILL || asked[start{p.PID, p.Start}] == 0 {
				_ = unix.Kill(p.PID, now) // it may already be gone
			}
		}
		for _, p := range all {
			if known := (start{p.PID, p.Start}); then == unix.SIGKILL || asked[known] == 0 {
				_ = unix.Kill(p.PID, then)
				grows = grows || then == unix.SIGKILL && asked[known] != then
				asked[known] = then
			}
		}
		if grows {
			continue // what has just been started would start more while we wait
		}
		select { // there is no event for the end of a process that is not a child of ours
		case <-time.After(wait):
		case <-ctx.Done():
			return len(asked), len(all)
		}
	}
}

// Kin returns for End the processes that belong to something, but for this one and those that have ended. One that
// belonged is found until it is gone: one that is ending has no environment any more.
func Kin(belongs func(Info) bool) (find func() []Info) {
	known := make(map[start]bool)
	return func() []Info {
		return slices.DeleteFunc(All(), func(p Info) bool {
			one := start{p.PID, p.Start}
			if p.Ended || p.PID == os.Getpid() || !known[one] && !belongs(p) {
				return true
			}
			known[one] = true
			return false
		})
	}
}
