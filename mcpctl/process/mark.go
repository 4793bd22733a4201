package process

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	ground "orchestrator/thread/ground/process"
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

// kin is what a process has that belongs to a start of ours, or to any of them.
type kin struct {
	groups map[int]bool // and sessions
	label  func(ground.Label) bool
	mark   func(entry string) bool
}

func (k kin) has(p ground.Info) bool {
	if k.groups[p.Group] || k.groups[p.Session] {
		return true
	}
	if l := ground.LabelOf(p.PID); l != 0 && k.label(l) {
		return true
	}
	marked := false
	ground.Environ(p.PID, func(entry string) bool { marked = k.mark(entry); return !marked })
	return marked
}

// killLimit is how long processes are looked for: one that is killed may just have started another.
const killLimit = 5 * time.Second

// kill kills all kin until there are none, and returns how many there were.
func (k kin) kill() int {
	type one struct {
		pid   int
		start uint64
	}
	killed := make(map[one]bool) // one that is ending has no environment any more
	for begin := time.Now(); time.Since(begin) < killLimit; {
		left, grows := false, false
		for _, p := range ground.All() {
			known := one{p.PID, p.Start}
			if p.Ended || p.PID == unix.Getpid() || !killed[known] && !k.has(p) {
				continue
			}
			left, grows = true, grows || !killed[known]
			killed[known] = true
			_ = unix.Kill(p.PID, unix.SIGKILL) // it may already be gone
		}
		if !left {
			break
		}
		if !grows {
			time.Sleep(time.Millisecond) // until the kernel has removed them
		}
	}
	return len(killed)
}
