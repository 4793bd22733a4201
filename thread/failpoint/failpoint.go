package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Linker is the flag of the linker with which a program can be armed by its environment.
const Linker = "-X=orchestrator/thread/failpoint.linked=yes"

// linked is set by the linker, to "yes" by Linker.
var linked string

// armed is what this process was armed with, nil in one that was not. It is the only state that failpoints share in
// the process: the environment belongs to the process too.
var armed atomic.Pointer[points]

// Hit marks the place called name: it ends the process with SIGKILL if it was armed for that place.
func Hit(name string) {
	if p := armed.Load(); p != nil {
		p.hit(name)
	}
}

// Arm makes the process obey its environment. It is for the programs of tests.
func Arm() {
	p := &points{trace: os.Getenv("ORCHESTRATOR_FAILPOINT_TRACE")}
	p.name, p.left = parse(os.Getenv("ORCHESTRATOR_FAILPOINT"))
	armed.Store(p)
}

// Main arms a program that was linked with Linker, and no other.
func Main() {
	if linked == "yes" {
		Arm()
	}
}

// points is what the environment selects.
type points struct {
	name  string // the place that kills, or ""
	trace string // file that the names of all passed places are written to, or ""

	mu   sync.Mutex // guards left
	left int        // hits of name until the kill
}

func (p *points) hit(name string) {
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
