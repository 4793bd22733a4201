package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	if how := os.Getenv("FAILPOINT_CHILD"); how != "" {
		switch how {
		case "arm":
			Arm()
		case "main":
			Main()
		}
		for range 5 {
			Hit("a.b")
			Hit("a.c")
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestHit(t *testing.T) {
	for _, tc := range []struct {
		point  string
		passed int // lines in the trace
		killed bool
	}{
		{"", 10, false},
		{"no.such", 10, false},
		{"a.b", 1, true},
		{"a.c", 2, true},
		{"a.c:3", 6, true},
		{"a.b:x", 1, true},
		{"a.b:6", 10, false},
	} {
		t.Run(tc.point, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "FAILPOINT_CHILD=arm", "ORCHESTRATOR_FAILPOINT="+tc.point,
				"ORCHESTRATOR_FAILPOINT_TRACE="+trace)
			err := cmd.Run()
			killed := false
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				ws, ok := exit.Sys().(syscall.WaitStatus)
				killed = ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL
			}
			if killed != tc.killed {
				t.Fatalf("killed = %v (%v), want %v", killed, err, tc.killed)
			}
			b, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(b), "\n"); n != tc.passed {
				t.Errorf("passed %d places, want %d:\n%s", n, tc.passed, b)
			}
		})
	}
}

// TestStrangersEnvironment: a program that neither called Arm nor was linked for it lives, whatever is set where it
// starts.
func TestStrangersEnvironment(t *testing.T) {
	for _, how := range []string{"main", "nothing"} {
		trace := filepath.Join(t.TempDir(), "trace")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FAILPOINT_CHILD="+how, "ORCHESTRATOR_FAILPOINT=a.b", "ORCHESTRATOR_FAILPOINT_TRACE="+trace)
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		if _, err := os.Stat(trace); err == nil {
			t.Errorf("%s: it noted what it passed", how)
		}
	}
}

// BenchmarkHit is what a place costs in a process that is not armed.
func BenchmarkHit(b *testing.B) {
	for range b.N {
		Hit("a.b")
	}
}
