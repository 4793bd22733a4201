package pty_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/pty"
	"orchestrator/thread/ground/await"
)

// written is a line of a script that prints "ready" once a process of it has written to $1.
const written = `
while [ ! -s "$1" ]; do sleep 0.01; done; echo ready; `

// leaves are ways in which a program leaves the one that started it: each writes the pid of what it leaves to $1
// before it prints "ready", and what it leaves does not end by itself.
var leaves = []struct{ name, script string }{
	{"a child", `sleep 1000 & echo $! > "$1"; echo ready; wait`},
	{"the program itself", `echo $$ > "$1"; echo ready; sleep 1000`},
	{"nohup", `nohup sleep 1000 >/dev/null 2>&1 & echo $! > "$1"; echo ready; wait`},
	{"setsid", `setsid sh -c 'echo $$ > "$1"; exec sleep 1000' sh "$1" &` + written + `wait`},
	{"without environment", `env -i sleep 1000 & echo $! > "$1"; echo ready; wait`},
	{"double fork", `(setsid sh -c 'trap "" HUP; echo $$ > "$1"; exec sleep 1000' \
		sh "$1" >/dev/null 2>&1 </dev/null &)` + written + `sleep 1000`},
	{"all of it", `(setsid env -i PATH="$PATH" sh -c '
		trap "" HUP; (setsid sh -c "echo \$\$ > \"$1\"; exec sleep 1000" sh "$1" &)' \
		sh "$1" >/dev/null 2>&1 </dev/null &)` + written + `sleep 1000`},
}

// left reads the pid that a script of leaves wrote, once the process has nobody above it but those it keeps.
func left(t *testing.T, r *run, file string) int {
	t.Helper()
	await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func linux(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("what left its parents is known on Linux only")
	}
}

// TestOrigin finds out whose a process is, however it left, and that it is nobody else's.
func TestOrigin(t *testing.T) {
	linux(t)
	h, other := host(t), host(t)
	for _, c := range leaves {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			r := start(t, h, c.script, file)
			start(t, h, "sleep 1000") // a second one, for whom it must not be taken
			pid := left(t, r, file)
			p, below, err := h.Origin(pid)
			if err != nil || !below || p != r.Process {
				t.Errorf("Origin = %v, %v, %v; want the process %v", p, below, err, r.Process)
			}
			if p, below, err := other.Origin(pid); err != nil || !below || p != nil {
				t.Errorf("another host says %v, %v, %v", p, below, err)
			}
			if below, err := pty.Below(pid); err != nil || !below {
				t.Errorf("Below = %v, %v", below, err)
			}
		})
	}
}

// TestOriginOfOrphans: orphans without a label are somebody's, though nobody knows whose.
func TestOriginOfOrphans(t *testing.T) {
	linux(t)
	h := host(t)
	file := filepath.Join(t.TempDir(), "pid")
	// Not through the Host, so without a label; its orphan comes to us as the subreaper.
	cmd := exec.Command("/bin/sh", "-c", `(setsid env -i sh -c 'echo $$ > "$1"; exec sleep 1000' sh "$1" &)`, "sh", file)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	await.Until(t, "the orphan", func() bool {
		b, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return pid > 0
	})
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if p, below, err := h.Origin(pid); err != nil || !below || p != nil {
		t.Errorf("Origin = %v, %v, %v", p, below, err)
	}
}

// TestOriginOfOthers: nobody's processes are nobody's.
func TestOriginOfOthers(t *testing.T) {
	h := host(t)
	start(t, h, "sleep 1000")
	for _, pid := range []int{os.Getpid(), os.Getppid()} {
		if p, below, err := h.Origin(pid); err != nil || below || p != nil {
			t.Errorf("Origin(%d) = %v, %v, %v", pid, p, below, err)
		}
	}
	gone := exec.Command("/bin/true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if _, below, err := h.Origin(gone.Process.Pid); err == nil || !below {
		t.Errorf("a process that is gone: %v, %v", below, err)
	}
}

// TestHostEnv: what runs below a Host of another program is somebody's, and a Host is not its own.
func TestHostEnv(t *testing.T) {
	linux(t)
	cmd := exec.Command("/bin/sh", "-c", "env -i sleep 1000 & echo $!; wait")
	cmd.Env = pty.HostEnv([]string{"PATH=" + os.Getenv("PATH"), "ORCHESTRATOR_TOKEN=x"})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	b := make([]byte, 32)
	n, err := out.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		t.Fatal(err)
	}
	if below, err := pty.Below(cmd.Process.Pid); err != nil || below {
		t.Errorf("the host: %v, %v", below, err)
	}
	if below, err := pty.Below(child); err != nil || !below {
		t.Errorf("its child: %v, %v", below, err)
	}
}

func TestToken(t *testing.T) {
	h := host(t)
	a, b := start(t, h, "echo $ORCHESTRATOR_TOKEN; sleep 1000"), start(t, h, "sleep 1000")
	await.Until(t, "the token", func() bool { return strings.Contains(a.output(), "\n") })
	shown := strings.TrimSpace(a.output())
	if len(shown) < 32 || shown != a.Token() || a.Token() == b.Token() {
		t.Errorf("tokens %q, %q; shown %q", a.Token(), b.Token(), shown)
	}
	if h.ByToken(shown) != a.Process || h.ByToken("") != nil || h.ByToken(shown[1:]) != nil {
		t.Error("the token does not find its process, and nothing else")
	}
	if got := pty.Token([]string{"ORCHESTRATOR_TOKEN=x", "A=b"}); got != "x" {
		t.Errorf("Token = %q", got)
	}
}

// TestStopFindsWhatLeft: what left its parents before anybody looked ends with its Process, and no other's does.
func TestStopFindsWhatLeft(t *testing.T) {
	linux(t)
	for _, c := range leaves {
		t.Run(c.name, func(t *testing.T) {
			h := host(t)
			dir := t.TempDir()
			mine, others := filepath.Join(dir, "mine"), filepath.Join(dir, "others")
			r, o := start(t, h, c.script, mine), start(t, h, c.script, others)
			pid, stays := left(t, r, mine), left(t, o, others)
			if err := r.Stop(context.Background(), 50*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "process "+strconv.Itoa(pid)+" to be gone", func() bool {
				_, err := os.Stat("/proc/" + strconv.Itoa(pid))
				return errors.Is(err, os.ErrNotExist)
			})
			if err := syscall.Kill(stays, 0); err != nil {
				t.Errorf("the other's process went too: %v", err)
			}
		})
	}
}

// TestSweepFindsWhatLeft: what left its parents and wiped its environment is found by its owner when its Host is
// no more.
func TestSweepFindsWhatLeft(t *testing.T) {
	linux(t)
	h := host(t)
	owner := func(name string) string { return "SWEEP_OWNER=" + t.Name() + strconv.Itoa(os.Getpid()) + name }
	begin := func(name string) (*run, int) {
		file := filepath.Join(t.TempDir(), "pid")
		r := startOwned(t, h, owner(name), leaves[len(leaves)-1].script, file)
		return r, left(t, r, file)
	}
	mine, pid := begin("mine")
	_, stays := begin("others")
	if n := pty.Sweep(context.Background(), []string{owner("mine")}, 10*time.Millisecond); n < 2 {
		t.Errorf("swept %d", n)
	}
	mine.wait(t)
	await.Until(t, "what left to be gone", func() bool { return syscall.Kill(pid, 0) != nil })
	if err := syscall.Kill(stays, 0); err != nil {
		t.Errorf("the other's process went too: %v", err)
	}
}

// TestSameOwnerElsewhere: a copied project may run the same threads; each Host ends its own alone.
func TestSameOwnerElsewhere(t *testing.T) {
	linux(t)
	owner := "COPIED_OWNER=" + t.Name()
	a, b := startOwned(t, host(t), owner, "sleep 1000"), startOwned(t, host(t), owner, "sleep 1000")
	if err := a.Stop(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(b.PID(), 0); err != nil {
		t.Errorf("the other host's process went too: %v", err)
	}
}

// BenchmarkCounts counts the processes of a hundred Processes.
func BenchmarkCounts(b *testing.B) {
	h := host(b)
	for range 100 {
		start(b, h, "sleep 1000")
	}
	for b.Loop() {
		h.Counts()
	}
}

// BenchmarkOrigin finds out whose a process is, as the server does for each connection.
func BenchmarkOrigin(b *testing.B) {
	h := host(b)
	for range 100 {
		start(b, h, "sleep 1000")
	}
	for b.Loop() {
		if _, _, err := h.Origin(os.Getppid()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLabelledFromTheStart: a program is labelled before it does anything, however busy the machine is.
func TestLabelledFromTheStart(t *testing.T) {
	linux(t)
	h := host(t)
	const show = `while read -r line; do case $line in 'Max file locks'*) echo "$line";; esac; done </proc/$$/limits`
	var runs []*run
	for range 40 {
		runs = append(runs, start(t, h, show))
	}
	for _, r := range runs {
		r.wait(t)
		if f := strings.Fields(r.output()); len(f) < 5 || f[3] == "unlimited" || f[4] == "unlimited" {
			t.Fatalf("the program's limit is %q", r.output())
		}
	}
}
