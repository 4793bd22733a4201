package process

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// markName is the environment variable that says which state folder's server a process belongs to, and to which start
// of one: "<id of the state>.<number>".
const markName = "ORCHESTRATOR_MCP_SERVER"

// marked returns an environment with a mark instead of any that it has.
func marked(env []string, mark string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, markName+"=") {
			out = append(out, kv)
		}
	}
	return append(out, markName+"="+mark)
}

// killRounds is how often processes are looked for: one that is killed may just have started another.
const killRounds = 50

// killAll kills the processes that belong, until there are none, and returns how many there were.
func killAll(belongs func(proc) bool) int {
	killed := make(map[start]bool) // one that is ending has no environment any more
	for range killRounds {
		left := false
		for _, p := range allProcs() {
			known := start{PID: p.pid, Start: p.start}
			if p.ended || p.pid == unix.Getpid() || !killed[known] && !belongs(p) {
				continue
			}
			left = true
			killed[known] = true
			_ = unix.Kill(p.pid, unix.SIGKILL) // it may already be gone
		}
		if !left {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return len(killed)
}
