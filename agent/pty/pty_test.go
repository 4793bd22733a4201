package pty_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/agent/pty"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deadline is how long anything is awaited before a test gives up.
const deadline = 60 * time.Second

// run is a started script with what it printed.
type run struct {
	*pty.Process
	mu          sync.Mutex
	out, errors bytes.Buffer
	code        chan int
}

func (r *run) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

func host(t testing.TB) *pty.Host {
	h := pty.NewHost()
	t.Cleanup(h.Close)
	return h
}

func start(t testing.TB, h *pty.Host, script string, args ...string) *run {
	t.Helper()
	return startWith(t, h, pty.Spec{}, script, args...)
}

// startOwned is start with an owner that Sweep knows.
func startOwned(t testing.TB, h *pty.Host, owner, script string, args ...string) *run {
	t.Helper()
	return startWith(t, h, pty.Spec{Owner: owner}, script, args...)
}

// startWith starts a script, with what else the specification says.
func startWith(t testing.TB, h *pty.Host, spec pty.Spec, script string, args ...string) *run {
	t.Helper()
	r := &run{code: make(chan int, 1)}
	spec.Path, spec.Args = "/bin/sh", append([]string{"-c", script, "sh"}, args...)
	spec.Env, spec.Dir, spec.Cols, spec.Rows = []string{"PATH=" + os.Getenv("PATH")}, t.TempDir(), 80, 24
	spec.Output = func(b []byte) { r.mu.Lock(); r.out.Write(b); r.mu.Unlock() }
	spec.Errors = func(b []byte) { r.mu.Lock(); r.errors.Write(b); r.mu.Unlock() }
	spec.Exited = func(code int) { r.code <- code }
	p, err := h.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	r.Process = p
	t.Cleanup(func() {
		if err := p.Stop(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *run) wait(t *testing.T) {
	t.Helper()
	select {
	case <-r.Done():
	case <-time.After(deadline):
		t.Fatalf("process did not end; printed %q", r.output())
	}
}

func TestOutputAndExit(t *testing.T) {
	h := host(t)
	for _, c := range []struct {
		name, script, out string
		code              int
	}{
		{"prints", "printf 'hello\\n'", "hello\r\n", 0},
		{"fails", "exit 7", "", 7},
		{"is killed", "kill -9 $$", "", 137},
		{"is terminated", "kill -TERM $$", "", 143},
		{"has a terminal of its own", "tty >/dev/null && ps -o sid= -p $$ >/dev/null; " +
			"[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && : </dev/tty && echo yes", "yes\r\n", 0},
		{"knows its size", "stty size", "24 80\r\n", 0},
		{"holds no other descriptor", "ls /proc/$$/fd | tr '\\n' ' '", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, h, c.script)
			r.wait(t)
			if got := <-r.code; got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			got := r.output()
			if c.out != "" && got != c.out {
				t.Errorf("printed %q, want %q", got, c.out)
			}
			if !strings.Contains(c.name, "descriptor") {
				return
			}
			for _, fd := range strings.Fields(got) {
				if len(fd) > 1 || fd > "3" { // 3 is the shell's own pipe
					t.Errorf("descriptors in the program: %s", got)
				}
			}
		})
	}
}

func TestWholeOutputInOrder(t *testing.T) {
	r := start(t, host(t), "seq 1 100000")
	r.wait(t)
	var want strings.Builder
	for i := 1; i <= 100000; i++ {
		fmt.Fprintf(&want, "%d\r\n", i)
	}
	if r.output() != want.String() {
		t.Errorf("%d bytes came, want %d", len(r.output()), want.Len())
	}
}

func TestStartFails(t *testing.T) {
	h := host(t)
	for _, s := range []pty.Spec{{Path: "/nonexistent/program"}, {Path: "/bin/sh", Dir: "/nonexistent"}} {
		if _, err := h.Start(s); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Start(%+v) = %v", s, err)
		}
	}
}

func TestResize(t *testing.T) {
	r := start(t, host(t), `trap 'stty size' WINCH; echo ready; while :; do read line; done`)
	await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
	if err := r.Resize(132, 43); err != nil {
		t.Fatal(err)
	}
	// The trap runs when read is interrupted or done.
	await.Until(t, "the new size", func() bool {
		_ = r.Write([]byte("\n"))
		return strings.Contains(r.output(), "43 132")
	})
}

func TestWrite(t *testing.T) {
	t.Run("reaches the program whole", func(t *testing.T) {
		r := start(t, host(t), `stty raw -echo; echo ready; head -c 600000 | wc -c`)
		await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
		for range 6 {
			if err := r.Write(bytes.Repeat([]byte("x"), 100_000)); err != nil {
				t.Fatal(err)
			}
		}
		r.wait(t)
		if !strings.Contains(r.output(), "600000") {
			t.Errorf("printed %q", r.output())
		}
		if err := r.Write([]byte("x")); !errors.Is(err, thread.ErrNotRunning) {
			t.Errorf("write after the end: %v", err)
		}
	})
	t.Run("is refused when nobody reads", func(t *testing.T) {
		r := start(t, host(t), `stty raw -echo; echo ready; sleep 1000`)
		await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
		var err error
		sent := 0
		for chunk := make([]byte, 64<<10); err == nil && sent < 64<<20; sent += len(chunk) {
			err = r.Write(chunk)
		}
		// At most 1 MB is kept, and the kernel's buffer takes less than that.
		if !errors.Is(err, pty.ErrClogged) || sent > 2<<20 {
			t.Errorf("after %d bytes: %v", sent, err)
		}
	})
}

// TestStopLeavesNothing starts what agents are known to start and looks for it after Stop.
func TestStopLeavesNothing(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"plain", `echo $$ >> "$1"; echo ready; sleep 1000`},
		{"ignores TERM and HUP", `trap '' TERM HUP INT; echo $$ >> "$1"; echo ready; while :; do sleep 1000; done`},
		{"has children", `(echo $$ >> "$1"; sleep 1000) & sleep 1000 & echo $! >> "$1"; echo ready; wait`},
		{"setsid", `setsid sh -c '
			trap "" TERM HUP; echo $$ >> "$1"; while :; do sleep 1000; done' sh "$1" &` + written + `wait`},
		{"double fork", `(setsid sh -c '
			(trap "" HUP TERM; sh -c "echo \$\$ >> \"$1\"; exec sleep 1000" sh "$1") & exit 0' \
			sh "$1" >/dev/null 2>&1 </dev/null &)` + written + `sleep 1000`},
		{"setsid without the environment", `setsid env -i PATH="$PATH" sh -c '
			trap "" TERM; echo $$ >> "$1"; while :; do sleep 1000; done' sh "$1" &` + written + `wait`},
		{"stopped", `sh -c 'echo $$ >> "$1"; kill -STOP $$; sleep 1000' sh "$1" &` + written + `wait`},
		{"exits and leaves a server", `setsid sh -c '
			trap "" HUP; echo $$ >> "$1"; while :; do sleep 1000; done' sh "$1" &` + written},
		{"holds the terminal after its end", `(trap "" HUP; echo $$ >> "$1"; sleep 1000) &` + written + `exit 3`},
	} {
		for name, piped := range map[string]bool{"in a terminal": false, "with pipes": true} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				t.Parallel()
				pids := filepath.Join(t.TempDir(), "pids")
				r := startWith(t, host(t), pty.Spec{Piped: piped}, c.script, pids)
				await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
				if err := r.Stop(context.Background(), 50*time.Millisecond); err != nil {
					t.Fatal(err)
				}
				r.wait(t)
				b, err := os.ReadFile(pids)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range strings.Fields(string(b)) {
					// The pid may linger as a zombie of a stranger's for an instant at most.
					await.Until(t, "process "+f+" to be gone", func() bool {
						_, err := os.Stat("/proc/" + f)
						return errors.Is(err, os.ErrNotExist)
					})
				}
			})
		}
	}
}

// TestStopAsksTheWholeGroup: a shell that waits for its children ends only when they are asked to end as well.
func TestStopAsksTheWholeGroup(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	r := start(t, host(t), `trap '' TERM
		(trap 'echo asked > "$1"; exit' TERM; echo ready; while :; do sleep 0.01; done) & wait`, said)
	await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
	if err := r.Stop(context.Background(), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(said); err != nil || string(b) != "asked\n" {
		t.Errorf("the child was not asked to end: %q, %v", b, err)
	}
}

// TestStopWakesWhatIsStopped: a stopped process is asked to end as well, which it hears once it goes on.
func TestStopWakesWhatIsStopped(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	r := start(t, host(t), `trap '' TERM
		(trap 'echo asked > "$1"; exit' TERM; sh -c 'echo $PPID ready; kill -STOP $PPID'
			while :; do sleep 0.01; done) & wait`, said)
	await.Until(t, "it to be stopped", func() bool {
		pid, _, ready := strings.Cut(r.output(), " ready")
		b, _ := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
		return ready && (strings.Contains(string(b), ") T ") || runtime.GOOS != "linux")
	})
	if err := r.Stop(context.Background(), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(said); err != nil || string(b) != "asked\n" {
		t.Errorf("the stopped child was not asked to end: %q, %v", b, err)
	}
}

// TestLeftoversAreAskedToEnd: what a program leaves behind in a session of its own is not killed at once.
func TestLeftoversAreAskedToEnd(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	r := start(t, host(t), `setsid sh -c '
		trap "echo asked > \"\$1\"; exit" TERM; echo ready; while :; do sleep 0.01; done' sh "$1" & wait`, said)
	await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
	if err := r.Stop(context.Background(), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(said); err != nil || string(b) != "asked\n" {
		t.Errorf("what was left was not asked to end: %q, %v", b, err)
	}
}

// TestPlainChildrenAreLeftAlone: what other parts of the program start is theirs to wait for.
func TestPlainChildrenAreLeftAlone(t *testing.T) {
	h := host(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			out, err := exec.Command("/bin/sh", "-c", "echo "+strconv.Itoa(i)).Output()
			if err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(i) {
				t.Errorf("plain child %d: %q, %v", i, out, err)
			}
			start(t, h, "exit 0").wait(t)
		})
	}
	wg.Wait()
}

func count(t testing.TB, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skipf("no %s here: the count is not checked", dir)
	}
	return len(entries)
}

func TestNothingLeaks(t *testing.T) {
	rounds := 50
	if s := os.Getenv("ORCHESTRATOR_PTY_ROUNDS"); s != "" { // 10000 is the gate
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	h := host(t)
	start(t, h, "exit 0").wait(t)
	fds, routines := count(t, "/proc/self/fd"), runtime.NumGoroutine()
	for i := range rounds {
		r := &run{}
		p, err := h.Start(pty.Spec{Path: "/bin/sh", Args: []string{"-c", "echo x; exec sleep 1000"}, Cols: 80, Rows: 24,
			Env:    []string{"PATH=" + os.Getenv("PATH")},
			Output: func(b []byte) { r.mu.Lock(); r.out.Write(b); r.mu.Unlock() }})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			await.Until(t, "output", func() bool { return r.output() != "" })
		}
		if err := p.Stop(context.Background(), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	await.Until(t, "descriptors and goroutines to be given back", func() bool {
		return count(t, "/proc/self/fd") <= fds && runtime.NumGoroutine() <= routines
	})
}

func TestHundredTerminalsNeedFewThreads(t *testing.T) {
	h := host(t)
	before := count(t, "/proc/self/task")
	for range 100 {
		start(t, h, "echo ready; exec sleep 1000")
	}
	if n := count(t, "/proc/self/task"); n > before+50 { // one each would be 100; BenchmarkHundred of session measures
		t.Errorf("%d OS threads for 100 terminals, %d before", n, before)
	}
}

// BenchmarkDrain reads what a program prints as fast as it can.
func BenchmarkDrain(b *testing.B) {
	h := host(b)
	const size = 64 << 20
	b.SetBytes(size)
	for b.Loop() {
		var n int
		done := make(chan int, 1)
		_, err := h.Start(pty.Spec{
			Path: "/bin/sh", Args: []string{"-c", "stty raw; head -c 67108864 /dev/zero"},
			Env: []string{"PATH=" + os.Getenv("PATH")}, Cols: 80, Rows: 24,
			Output: func(p []byte) { n += len(p) }, Exited: func(c int) { done <- c },
		})
		if err != nil {
			b.Fatal(err)
		}
		if <-done; n != size {
			b.Fatalf("read %d bytes", n)
		}
	}
}

func TestSweep(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("left-over processes are found on Linux only")
	}
	left := func(mark string) (gone chan struct{}, kill func() error) {
		cmd := exec.Command("/bin/sh", "-c", "trap '' TERM HUP; echo up; while :; do sleep 1000; done")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SWEEP_MARK=" + mark}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 3)); err != nil {
			t.Fatal(err)
		}
		gone = make(chan struct{})
		go func() {
			_ = cmd.Wait() // killed
			close(gone)
		}()
		return gone, cmd.Process.Kill
	}
	mine, other := t.Name()+strconv.Itoa(os.Getpid()), t.Name()+strconv.Itoa(os.Getpid())+"-other"
	gone, _ := left(mine)
	stays, kill := left(other)
	// The shell's sleep carries the mark too, and the next one that it may still begin.
	if n := pty.Sweep(context.Background(), []string{"NONE=x", "SWEEP_MARK=" + mine}, 10*time.Millisecond); n < 1 {
		t.Errorf("swept %d", n)
	}
	select {
	case <-gone:
	case <-time.After(deadline):
		t.Fatal("a left-over process lives on")
	}
	select {
	case <-stays:
		t.Error("another's process was swept")
	default:
	}
	if err := kill(); err != nil {
		t.Error(err)
	}
	<-stays
	pty.Sweep(context.Background(), []string{"SWEEP_MARK=" + other}, 0) // its sleep
	if n := pty.Sweep(context.Background(), nil, 0); n != 0 {
		t.Errorf("swept %d by no mark", n)
	}
}
