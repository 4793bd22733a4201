//go:build linux

package pty

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/thread/ground/process"
)

// TestLooksAreFew ends many programs, as git's do for each turn, beside running ones: all children are read and each
// running one is asked for once in a while, not at each end.
func TestLooksAreFew(t *testing.T) {
	var looks, asked atomic.Int64
	h := newHost(
		func() []process.Info { looks.Add(1); return endedChildren() },
		func(pid int, ws *unix.WaitStatus) (int, error) { asked.Add(1); return wait(pid, ws) },
	)
	defer h.Close()
	const beside = 20
	for range beside {
		p, err := h.Start(Spec{Path: "/bin/sleep", Args: []string{"1000"}, Cols: 80, Rows: 24, Output: func([]byte) {}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = p.Stop(context.Background(), 0) }()
	}
	begin := time.Now()
	for range 10 {
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
	}
	asked.Store(0)
	for end := time.Now().Add(6 * reapPause); time.Now().Before(end); time.Sleep(reapPause / 10) {
		if err := unix.Kill(os.Getpid(), unix.SIGCHLD); err != nil { // as of a program that its starter has waited for
			t.Fatal(err)
		}
	}
	took := time.Since(begin)
	if most := int64(took/foreignPause) + 2; looks.Load() > most {
		t.Errorf("all children were read %d times, at most %d are right", looks.Load(), most)
	}
	if most := beside * (int64(took/foreignPause) + 3); asked.Load() > most {
		t.Errorf("running programs were asked for %d times, at most %d are right", asked.Load(), most)
	}
}

// TestAnyEnded tells children that run from one that has ended and waits to be collected.
func TestAnyEnded(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read line")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if anyEnded() {
		t.Error("it runs")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !anyEnded(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("its end is not seen")
		}
	}
	if !anyEnded() {
		t.Error("the look collected it")
	}
	_ = cmd.Wait() // it ends with 1
	if anyEnded() {
		t.Error("it was collected")
	}
}

// TestOrphansAreCollected ends programs whose starter has gone: none stays as a zombie, whenever it ends.
func TestOrphansAreCollected(t *testing.T) {
	h := NewHost()
	defer h.Close()
	file := filepath.Join(t.TempDir(), "pids")
	script := `for d in 0 0.1 0.3 0.7; do sh -c 'echo $$ >> "$1"; exec sleep "$2"' sh "$1" $d & done`
	if err := exec.Command("setsid", "sh", "-c", script, "sh", file).Run(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		b, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		left := 0
		pids := strings.Fields(string(b))
		for _, f := range pids {
			pid, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			if _, there := process.Look(pid); there {
				left++
			}
		}
		if len(pids) == 4 && left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d orphans are still there", left, len(pids))
		}
	}
}
