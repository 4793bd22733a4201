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

// endAll kills what is left of a session, and whatever carries its mark, until nothing is; left is how many remain.
func endAll(session int, mark string) (left int) {
	for try := range 200 {
		_ = syscall.Kill(-session, syscall.SIGKILL)
		pids := members(session, mark)
		if len(pids) == 0 {
			return 0
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGSTOP) // so that none makes another while the others die
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		left = len(pids)
		time.Sleep(time.Duration(min(try, 20)) * time.Millisecond) // the kernel takes them away
	}
	return left
}

// members finds the living processes of a session and those that carry its mark.
func members(session int, mark string) []int {
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
		if f[3] == strconv.Itoa(session) || marked(e.Name(), mark) {
			found = append(found, pid)
		}
	}
	return found
}

func marked(pid, mark string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/environ")
	return err == nil && slices.Contains(strings.Split(string(b), "\x00"), mark)
}
