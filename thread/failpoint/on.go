//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// Enabled reports whether this build can be killed at failpoints.
const Enabled = true

// points is what the environment selects, read once, at the first hit.
type points struct {
	once  sync.Once
	name  string // the place that kills, or ""
	trace string // file that the names of all passed places are written to, or ""

	mu   sync.Mutex // guards left
	left int        // hits of name until the kill
}

// state is the only state that failpoints share in the process: the environment belongs to the process too.
var state points

// Hit marks the place called name: it ends the process with SIGKILL when the environment says so.
func Hit(name string) { state.hit(name) }

func (p *points) hit(name string) {
	p.once.Do(p.read)
	if p.trace != "" {
		p.note(name)
	}
	if p.name != name {
		return
	}
	p.mu.Lock()
	p.left--
	die := p.left == 0
	p.mu.Unlock()
	if die {
		p.die()
	}
}

func (p *points) read() {
	p.name, p.left = parse(os.Getenv("ORCHESTRATOR_FAILPOINT"))
	p.trace = os.Getenv("ORCHESTRATOR_FAILPOINT_TRACE")
}

// parse splits "name:n". Without a valid number the first hit counts.
func parse(s string) (name string, n int) {
	name, num, found := strings.Cut(s, ":")
	if !found {
		return name, 1
	}
	n, err := strconv.Atoi(num)
	if err != nil || n < 1 {
		n = 1
	}
	return name, n
}

func (p *points) note(name string) {
	f, err := os.OpenFile(p.trace, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return // the test that asked for the trace notices that it is empty
	}
	defer f.Close()
	_, _ = f.WriteString(name + "\n")
}

// die ends the process as kill -9 does and never returns.
func (p *points) die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the signal is on its way; nothing after the failpoint may run
}
