package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/thread"
)

// TestRemoveInTakesNames gives it what is no name in the folder: nothing is removed, not even below it.
func TestRemoveInTakesNames(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "dir")
	kept := filepath.Join(dir, "below", "kept")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "below/kept", "../dir", kept, "below\x00"} {
		if err := RemoveIn(dir, name); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}
