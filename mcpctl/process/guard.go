package process

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// guardScript kills the groups that it was told of, and what has the mark $1, when its input ends: when this process has
// ended in whatever way. The kernel does that for the programs themselves only, not for what they have started.
const guardScript = `trap '' HUP INT TERM
groups=' '
while read -r what group; do
	case $what in
	+) groups="$groups$group " ;;
	.) exit ;;
	-) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
	esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
for round in 1 2 3; do
	for environ in $(grep -l -a -F "$1" /proc/[0-9]*/environ); do
		pid=${environ#/proc/}
		kill -s KILL "${pid%/environ}"
	done
done
`

// guard is a shell that outlives this process for a moment.
type guard struct {
	program *os.Process
	input   *os.File
}

// newGuard starts a guard over everything with marks of an id. Without a shell there is none.
func newGuard(id string) *guard {
	in, out, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer in.Close()
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		out.Close()
		return nil
	}
	defer none.Close()
	program, err := os.StartProcess("/bin/sh", []string{"sh", "-c", guardScript, "sh", markName + "=" + id + "."},
		&os.ProcAttr{
			Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, Files: []*os.File{in, none, none},
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
	if err != nil {
		out.Close()
		return nil
	}
	return &guard{program: program, input: out}
}

// tell tells the guard that a group has begun (+) or ended (-).
func (g *guard) tell(what string, group int) {
	if g == nil {
		return
	}
	_ = g.input.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a guard that is stopped must stop nobody
	_, _ = fmt.Fprintf(g.input, "%s %d\n", what, group)                  // without a guard there is still the next start
}

// close ends the guard, which has nothing to do any more.
func (g *guard) close() {
	if g == nil {
		return
	}
	g.tell(".", 0)
	_ = g.input.Close()
	_, _ = g.program.Wait()
}
