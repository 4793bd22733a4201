// Package records tests the record of work of the assembled program: taken along, damaged, read by people, and attacked.
package records

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestUnusable makes the record of work one that cannot be used, in each way that there is. Threads do not notice: they
// work, are backed up and restored; only what is the record says why it fails, and the file stays as it was.
func TestUnusable(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3 to damage the file with: install it")
	}
	query := func(t *testing.T, file, text string) {
		t.Helper()
		if out, err := exec.Command(sqlite, file, text).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", text, err, out)
		}
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, file string)
		words string
		kept  bool // it stays as it is
	}{
		"newer": {func(t *testing.T, file string) { query(t, file, "PRAGMA user_version = 99") }, "upgrade orchestrator", true},
		"foreign": {func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			query(t, file, "PRAGMA journal_mode = wal; PRAGMA application_id = 7; CREATE TABLE notes (text)")
		}, "another program", true},
		"a folder": {func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "work.db", true},
		"truncated": {func(t *testing.T, file string) {
			if err := os.Truncate(file, 5000); err != nil {
				t.Fatal(err)
			}
		}, "", false},
		"garbage": {func(t *testing.T, file string) {
			if err := os.WriteFile(file, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			before := r.Demo("before")
			r.Turn(before, "write a.txt: one")
			r.Ok("run", "--once", "-a", "demo", "say hello")
			r.Ok("stop")
			file := filepath.Join(r.StateDir(), "work.db")
			for _, beside := range []string{"-wal", "-shm"} {
				_ = os.Remove(file + beside)
			}
			c.spoil(t, file)
			was, _ := os.ReadFile(file) // a folder has none
			r.Ok("resume", before)
			r.Turn(before, "write b.txt: two")
			after := r.Demo("after")
			r.Turn(after, "write c.txt: three")
			r.Ok("fork", "another way", "-t", before)
			backup := filepath.Join(t.TempDir(), "backup")
			r.Ok("backup", backup)
			r.Ok("restore-backup", backup)
			archive := filepath.Join(t.TempDir(), "archive")
			r.Ok("export", before, "-o", archive)
			r.Ok("import", archive)
			r.Ok("gc")
			if c.words != "" {
				for _, args := range [][]string{{"run", "--once", "-a", "demo", "say hello"}, {"session", "list"}} {
					if got := r.Run(args...); got.Code == 0 {
						t.Errorf("%v: it went well: %s", args, got.Stdout+got.Stderr)
					}
				}
				if got := r.Run("doctor"); !strings.Contains(strings.ToLower(got.Stdout+got.Stderr), c.words) {
					t.Errorf("doctor does not say %q:\n%s", c.words, got.Stdout+got.Stderr)
				}
			} else {
				r.Ok("run", "--once", "-a", "demo", "say hello")
				r.Ok("session", "list")
			}
			r.Ok("stop", "--force")
			if now, _ := os.ReadFile(file); c.kept && string(now) != string(was) {
				t.Errorf("the file was changed")
			}
		})
	}
}
