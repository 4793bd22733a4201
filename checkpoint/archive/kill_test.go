package archive_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("ARCHIVE_CHILD"); path != "" {
		failpoint.Arm()
		ctx := context.Background()
		s, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err == nil {
			var b []byte
			b, err = os.ReadFile(path + ".orch")
			if err == nil {
				_, err = importInto(s, b, func(_ thread.ID, r io.Reader) error { _, err := io.Copy(io.Discard, r); return err })
			}
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestKill dies at each step of an import: the next start takes back what was cut off, or it was whole.
func TestKill(t *testing.T) {
	b := newWorld(t).export(strings.NewReader("bundle"))
	for _, point := range []string{"archive.import.intended", "archive.import.created", "archive.import.record",
		"archive.import.record:5",
		"archive.import.written", "archive.import.visible"} {
		t.Run(point, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			if err := os.WriteFile(path+".orch", b, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ARCHIVE_CHILD="+path, "ORCHESTRATOR_FAILPOINT="+point)
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Fatalf("the child lives: %s", out)
			}
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			closed(t, s)
			said, err := archive.Repair(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if point == "archive.import.visible" {
				list, err := s.Threads(t.Context())
				if err != nil || len(list) != 1 || len(said) > 0 {
					t.Errorf("%v %v %v", list, said, err)
				}
				return
			}
			if len(said) != 1 || !strings.Contains(said[0], "x.orch") {
				t.Errorf("said %q", said)
			}
			empty(t, s)
			if again, err := archive.Repair(t.Context(), s); err != nil || len(again) > 0 {
				t.Errorf("again: %q, %v", again, err)
			}
		})
	}
}
