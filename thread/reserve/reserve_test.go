package reserve

import (
	"os"
	"syscall"
	"testing"

	"orchestrator/thread/private"
)

// disk is a small one of its own, which takes root.
func disk(t *testing.T) *private.Folder {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skipf("SKIPPED: it needs a small file system of its own, and mounting one is not allowed (%v); as root `go test -run %s ./thread/reserve` runs it", err, t.Name())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	f, err := private.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// fill leaves no room.
func fill(t *testing.T, dir *private.Folder) (free func()) {
	t.Helper()
	f, err := os.Create(dir.Path("filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	return func() {
		if err := os.Remove(dir.Path("filler")); err != nil {
			t.Error(err)
		}
	}
}

// TestReserve fills a disk: the room is there when it is released, once, and comes back when there is room.
func TestReserve(t *testing.T) {
	const size = 1 << 20
	dir := disk(t)
	r, err := New(dir, "room", size)
	if err != nil || !r.Kept() {
		t.Fatalf("kept %v: %v", r.Kept(), err)
	}
	free := fill(t, dir)
	if err := dir.Create("refused", make([]byte, 8192)); err == nil {
		t.Error("the disk is not full")
	}
	if !r.Release() || r.Release() || r.Kept() {
		t.Error("it is released once")
	}
	if err := dir.Create("vital", make([]byte, size/2)); err != nil {
		t.Errorf("after the release: %v", err)
	}
	if err := r.Refill(); err != nil || r.Kept() {
		t.Errorf("refilled on a full disk: %v", err)
	}
	if r, err := New(dir, "room", size); err != nil || r.Kept() {
		t.Errorf("begun on a full disk: %v", err)
	}
	free()
	if err := r.Refill(); err != nil || !r.Kept() {
		t.Errorf("not refilled: %v", err)
	}
	if r, err := New(dir, "room", size); err != nil || !r.Kept() {
		t.Errorf("begun again: %v", err)
	}
}
