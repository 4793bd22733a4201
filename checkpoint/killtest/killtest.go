// Package killtest kills processes as a crash would, for the tests of the packages under checkpoint.
package killtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Rounds is how often a test kills at each place: KILL_ROUNDS, or short if unset.
func Rounds(t *testing.T, short int) int {
	t.Helper()
	n := short
	if s := os.Getenv("KILL_ROUNDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("KILL_ROUNDS: %v", err)
		}
	}
	t.Logf("%d rounds for each place; KILL_ROUNDS=50 for the long run", n)
	return n
}

// Tree kills a process with its children, such as git's own processes, and returns when none of them runs. It stops a
// process before listing its children, so that it starts no more of them.
func Tree(pid int) {
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return
	}
	settle(pid, "TtZX")
	kids := children(pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for _, kid := range kids {
		Tree(kid)
	}
	settle(pid, "ZX")
}

// settle waits until a process is in one of the states, as /proc names them, or gone.
func settle(pid int, states string) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		after := strings.LastIndexByte(string(b), ')')
		if err != nil || after < 0 || after+2 >= len(b) || strings.ContainsRune(states, rune(b[after+2])) {
			return
		}
	}
}

func children(pid int) []int {
	var kids []int
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks { // each thread has its own
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			continue
		}
		for f := range strings.FieldsSeq(string(b)) {
			if kid, err := strconv.Atoi(f); err == nil {
				kids = append(kids, kid)
			}
		}
	}
	return kids
}
