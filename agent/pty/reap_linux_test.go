//go:build linux

package pty

import (
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

	"orchestrator/thread/ground/process"
)

// TestLooksAreFew ends many programs, as git's do for each turn, beside running ones: all children are read once in a
// while, not at each end.
func TestLooksAreFew(t *testing.T) {
	var looks atomic.Int64
	h := newHost(func() []process.Info { looks.Add(1); return endedChildren() })
	defer h.Close()
	begin := time.Now()
	for range 50 {
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
	}
	if most := int64(time.Since(begin)/foreignPause) + 2; looks.Load() > most {
		t.Errorf("all children were read %d times, at most %d are right", looks.Load(), most)
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
