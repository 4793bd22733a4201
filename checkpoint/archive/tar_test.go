package archive_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTarLists has the tools that everybody has list an archive and take a file out of it.
func TestTarLists(t *testing.T) {
	for _, tool := range []string{"tar", "zstd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: there is no %s here to read an archive with", tool)
		}
	}
	path := filepath.Join(t.TempDir(), "x.orch")
	if err := os.WriteFile(path, newWorld(t).export(strings.NewReader("bundle")), 0o600); err != nil {
		t.Fatal(err)
	}
	tar := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("tar", append([]string{"--zstd"}, args...)...).Output()
		if err != nil {
			t.Fatalf("tar %q: %v", args, err)
		}
		return string(out)
	}
	want := []string{"format", "thread", "checkpoints/00001", "snapshots/00001", "manifest"}
	if got := strings.Fields(tar("-tf", path)); !slices.Equal(got, want) {
		t.Errorf("tar lists %q, want %q", got, want)
	}
	if got := tar("-xOf", path, "snapshots/00001"); got != "bundle" {
		t.Errorf("tar takes %q out", got)
	}
}
