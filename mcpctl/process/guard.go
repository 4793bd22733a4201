package process

import (
	"fmt"
	"os"
	"syscall"
	"time"

	ground "orchestrator/thread/ground/process"
)

// guardScript kills, when its input ends, the groups and the labels that it was told of and what has the mark $1: when
// this process has ended in whatever way. The kernel does that for the programs themselves only, not for what they have
// started.
const guardScript = `trap '' HUP INT TERM
groups=' '
labels=' '
while read -r what group label; do
	case $what in
	+) groups="$groups$group " labels="$labels$label " ;;
	.) exit ;;
	-) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
	x) case $labels in *" $label "*) labels="${labels%% $label *} ${labels#* $label }" ;; esac ;;
	esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
any=none
for label in $labels; do any="$any|$label"; done
for round in 1 2 3; do
	for found in $(grep -l -a -F "$1" /proc/[0-9]*/environ) \
		$(grep -l -E "^Max file locks .* ($any) " /proc/[0-9]*/limits); do
		pid=${found#/proc/}
		kill -s KILL "${pid%/*}"
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

// tell tells the guard that a program with a group and a label has begun (+), that it has ended (-), and that nothing of
// it is left (x).
func (g *guard) tell(what string, group int, label ground.Label) {
	if g == nil {
		return
	}
	_ = g.input.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a guard that is stopped must stop nobody
	_, _ = fmt.Fprintf(g.input, "%s %d %d\n", what, group, label)        // without a guard there is still the next start
}

// close ends the guard, which has nothing to do any more.
func (g *guard) close() {
	if g == nil {
		return
	}
	g.tell(".", 0, 0)
	_ = g.input.Close()
	_, _ = g.program.Wait()
}
