package setup

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
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
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	self := os.Getpid()
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == self {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(f) < 4 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		session, err := strconv.Atoi(f[3])
		if err == nil && slices.Contains(sessions, session) || marked(e.Name(), mark) {
			found = append(found, pid)
		}
	}
	return found
}

func marked(pid, mark string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/environ")
	return err == nil && slices.ContainsFunc(strings.Split(string(b), "\x00"), func(kv string) bool {
		return strings.HasPrefix(kv, mark)
	})
}
