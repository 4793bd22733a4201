package pty_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/pty"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

func (r *run) complaints() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errors.String()
}

var piped = pty.Spec{Piped: true}

// TestPipes starts programs without a terminal.
func TestPipes(t *testing.T) {
	h := host(t)
	for _, c := range []struct {
		name, script, out, errors string
		code                      int
	}{
		{"prints on both", `printf 'a\nb\n'; printf 'c\n' >&2; exit 7`, "a\nb\n", "c\n", 7},
		{"has no terminal", `[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || (: </dev/tty) 2>/dev/null || echo none`, "none\n", "", 0},
		{"leads its session", `ps -o sid=,pgid= -p $$ | { read s g; [ "$s" = $$ ] && [ "$g" = $$ ] && echo yes; }`, "yes\n", "", 0},
		{"blocks on its pipes", `grep -h '^flags' /proc/self/fdinfo/0 | { read _ f; [ $((0$f & 04000)) = 0 ] && echo yes; }`, "yes\n", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.script, "/proc/") && runtime.GOOS != "linux" {
				t.Skip("SKIPPED: only Linux has /proc; run it there")
			}
			r := startWith(t, h, piped, c.script)
			r.wait(t)
			if got := <-r.code; got != c.code || r.output() != c.out || r.complaints() != c.errors {
				t.Errorf("code %d, printed %q and %q", got, r.output(), r.complaints())
			}
		})
	}
	if _, err := h.Start(pty.Spec{Path: "/nonexistent/program", Piped: true}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("start of nothing: %v", err)
	}
}

// TestPipedOutputIsWhole reads a large output to its end, also of a program whose pipe something else holds open.
func TestPipedOutputIsWhole(t *testing.T) {
	for name, rest := range map[string]string{"ended": "", "held open": `setsid sleep 1000 &`} {
		t.Run(name, func(t *testing.T) {
			r := startWith(t, host(t), piped, "seq 1 200000; "+rest)
			r.wait(t)
			var want strings.Builder
			for i := 1; i <= 200000; i++ {
				fmt.Fprintln(&want, i)
			}
			if r.output() != want.String() {
				t.Errorf("%d bytes came, want %d", len(r.output()), want.Len())
			}
		})
	}
}

// TestPipeInput gives input to programs that read it late, in part and never.
func TestPipeInput(t *testing.T) {
	const most = 24 << 20
	t.Run("is whole and ends", func(t *testing.T) {
		r := startWith(t, host(t), piped, `sleep 0.2; wc -c`)
		for range 24 {
			if err := r.Write(bytes.Repeat([]byte("x"), most/24)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.CloseInput(); err != nil {
			t.Fatal(err)
		}
		if err := r.Write([]byte("x")); !errors.Is(err, thread.ErrNotRunning) {
			t.Errorf("write after the end of the input: %v", err)
		}
		r.wait(t)
		if strings.TrimSpace(r.output()) != fmt.Sprint(most) {
			t.Errorf("%s bytes came", r.output())
		}
	})
	t.Run("is refused when nobody reads", func(t *testing.T) {
		r := startWith(t, host(t), piped, `sleep 1000`)
		var err error
		sent := 0
		for chunk := make([]byte, 1<<20); err == nil && sent < 100<<20; sent += len(chunk) {
			err = r.Write(chunk)
		}
		if !errors.Is(err, pty.ErrClogged) || sent < most || sent > 40<<20 {
			t.Errorf("after %d bytes: %v", sent, err)
		}
	})
	t.Run("fails when it is closed", func(t *testing.T) {
		r := startWith(t, host(t), piped, `exec <&-; echo ready; sleep 1000`)
		await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
		if err := r.Write([]byte("x")); !errors.Is(err, thread.ErrNotRunning) {
			t.Errorf("it was taken: %v", err)
		}
	})
	t.Run("of a terminal stays open", func(t *testing.T) {
		if err := start(t, host(t), `sleep 1000`).CloseInput(); err == nil {
			t.Error("it was closed")
		}
	})
}

// TestHeldPipe: the end is told although another process holds the pipe open, and that one is gone by then.
func TestHeldPipe(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	r := startWith(t, host(t), piped, `setsid sh -c 'trap "" TERM HUP; echo $$ >"$1"; while :; do sleep 1; done' sh "$1" &`+written+`echo last; exit 3`, pids)
	began := time.Now()
	select {
	case code := <-r.code:
		if code != 3 || r.output() != "ready\nlast\n" {
			t.Errorf("code %d, printed %q", code, r.output())
		}
	case <-time.After(deadline):
		t.Fatal("the end was not told")
	}
	t.Logf("told after %v", time.Since(began))
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(b))); runtime.GOOS == "linux" && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("process %s is left", b)
	}
	r.wait(t)
}

// TestInterrupt sends the group what ctrl+c does.
func TestInterrupt(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	r := startWith(t, host(t), piped, `trap 'echo parent >>"$1"' INT
		sh -c 'trap "echo child >>\"\$1\"; exit" INT; echo ready; while :; do sleep 0.01; done' sh "$1"; exit 5`, said)
	await.Until(t, "start", func() bool { return strings.Contains(r.output(), "ready") })
	r.Interrupt()
	if code := <-r.code; code != 5 {
		t.Errorf("code %d", code)
	}
	if b, _ := os.ReadFile(said); !strings.Contains(string(b), "parent") || !strings.Contains(string(b), "child") {
		t.Errorf("told %q", b)
	}
}

// TestPipesAreGivenBack ends many programs, and counts descriptors.
func TestPipesAreGivenBack(t *testing.T) {
	h := host(t)
	startWith(t, h, piped, "exit 0").wait(t)
	fds := count(t, "/proc/self/fd")
	for i := range 30 {
		r := startWith(t, h, piped, `[ "$1" = 0 ] || exit 0; sleep 1000`, fmt.Sprint(i%3))
		if err := r.Write([]byte(strings.Repeat("x", 1<<20))); err != nil && !errors.Is(err, thread.ErrNotRunning) {
			t.Errorf("write: %v", err)
		}
		if err := r.Stop(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		_, _ = h.Start(pty.Spec{Path: "/nonexistent/program", Piped: true})
	}
	await.Until(t, "descriptors to be given back", func() bool { return count(t, "/proc/self/fd") <= fds })
}
