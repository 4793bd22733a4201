package setup

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"orchestrator/thread/ground/process"
)

// endAll kills all processes with a mark and those of sessions; left is how many remain.
func endAll(mark string, sessions ...int) (left int) {
	for try := range 200 {
		for _, session := range sessions {
			_ = syscall.Kill(-session, syscall.SIGKILL)
		}
		pids := members(mark, sessions...)
		if len(pids) == 0 {
			return 0
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it forks no more while the others die
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		left = len(pids)
		time.Sleep(time.Duration(min(try, 20)) * time.Millisecond) // until the kernel has removed them
	}
	return left
}

// members finds the live processes with an environment variable that begins with mark, and those of sessions.
func members(mark string, sessions ...int) []int {
	self := os.Getpid()
	var found []int
	for _, p := range process.All() {
		if p.PID != self && !p.Ended && (slices.Contains(sessions, p.Session) || marked(p.PID, mark)) {
			found = append(found, p.PID)
		}
	}
	return found
}

func marked(pid int, mark string) (yes bool) {
	process.Environ(pid, func(kv string) bool { yes = strings.HasPrefix(kv, mark); return !yes })
	return yes
}
