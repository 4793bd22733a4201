package staging_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"orchestrator/thread"
)

// TestFullDisk: data that does not fit is refused with a reason and leaves nothing; other data can still be read and
// unstaged.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skipf("SKIPPED: it needs a small file system of its own, and mounting one is not allowed (%v)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := open(t, dir)
	d := s.stage("kept\n", thread.StageRequest{})
	before := s.files()
	for range 3 { // the space is freed each time
		_, err := s.Stage(t.Context(), thread.StageRequest{}, io.LimitReader(repeated("0123456789\n"), 4<<20))
		if !errors.Is(err, thread.ErrDiskFull) || !strings.Contains(err.Error(), "Free some space") {
			t.Fatalf("staged 4 MB in 1: %v", err)
		}
		if got := s.files(); strings.Join(got, " ") != strings.Join(before, " ") {
			t.Errorf("left %v", got)
		}
	}
	big := s.stage(strings.Repeat("x", 900<<10), thread.StageRequest{})
	for filled := true; filled; { // to the last block, where even a document does not fit
		_, err := s.Stage(t.Context(), thread.StageRequest{}, strings.NewReader("y"))
		filled = err == nil
		if err != nil && !errors.Is(err, thread.ErrDiskFull) {
			t.Fatal(err)
		}
	}
	if got, err := s.read(d.Token, thread.Selection{}); err != nil || got != "kept\n" {
		t.Errorf("read: %q (%v)", got, err)
	}
	if err := s.Unstage(big.Token); err != nil {
		t.Error(err)
	}
	if got, err := s.read(d.Token, thread.Selection{}); err != nil || got != "kept\n" {
		t.Errorf("read: %q (%v)", got, err)
	}
	s.stage("again", thread.StageRequest{})
}
