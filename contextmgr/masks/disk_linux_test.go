package masks_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orchestrator/contextmgr/masks"
	"orchestrator/thread"
)

// mount mounts a small file system of the test's own.
func mount(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skipf("SKIPPED: it needs a small file system of its own, and mounting one is not allowed (%v)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// noise is a text that does not get smaller.
func noise(n int) string {
	var b strings.Builder
	for x := uint64(1); b.Len() < n; x = x*6364136223846793005 + 1442695040888963407 {
		b.WriteByte(byte(x >> 56))
	}
	return b.String()
}

// TestFullDisk: a batch that does not fit is refused and leaves nothing; what was masked stays, and what fits is
// masked.
func TestFullDisk(t *testing.T) {
	w := open(t, mount(t, "1m"))
	set := w.set("t1", "")
	w.add(set, item("a", "kept"))
	before := w.files()
	for range 3 { // the space is free again each time
		err := set.Add([]masks.New{item("b", "small"), item("c", noise(1<<20))})
		if !errors.Is(err, thread.ErrDiskFull) || !strings.Contains(err.Error(), "Free some space") {
			t.Fatalf("masked 1 MB: %v", err)
		}
		if got := w.files(); !slices.Equal(got, before) || ids(set.All()) != "a" {
			t.Fatalf("masked %s, left %v", ids(set.All()), got)
		}
	}
	// The log has space for this, the copies do not: the content is there all the same.
	large := w.add(set, item("large", strings.Repeat("x", 2<<20)))[0]
	if got, err := w.read(large.Token); err != nil || got != strings.Repeat("x", 2<<20) {
		t.Errorf("read %d bytes (%v)", len(got), err)
	}
	if _, err := os.Lstat(large.File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half of a copy is left: %v", err)
	}
	w.add(set, item("d", noise(300<<10)))
	for n := 0; ; n++ { // to the last block
		if err := set.Pin("some id that is as long as a hash"); err != nil {
			if !errors.Is(err, thread.ErrDiskFull) {
				t.Fatal(err)
			}
			break
		}
		if err := set.Unpin("some id that is as long as a hash"); err != nil {
			break
		}
	}
	was := set.Pinned("some id that is as long as a hash")
	if _, err := w.Thread("fork", "t1"); !errors.Is(err, thread.ErrDiskFull) {
		t.Errorf("a fork on a full disk: %v", err)
	}
	w = w.again()
	set = w.set("t1", "")
	w.has(set, "a", "kept")
	w.has(set, "d", noise(300<<10))
	if ids(set.All()) != "a large d" || set.Lost() != 0 || set.Pinned("some id that is as long as a hash") != was {
		t.Errorf("masked %s, %d lost", ids(set.All()), set.Lost())
	}
}

// TestReadOnly: what is masked stays so where nothing can be written, and errors say what to do.
func TestReadOnly(t *testing.T) {
	dir := mount(t, "4m")
	w := open(t, dir)
	m := w.add(w.set("t1", ""), item("a", "one"))[0]
	w = w.again()
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	set := w.set("t1", "")
	w.has(set, "a", "one")
	_, fresh := w.Thread("t2", "")
	for _, err := range []error{set.Add([]masks.New{item("b", "two")}), set.Pin("a"), fresh} {
		if !errors.Is(err, thread.ErrReadOnly) || !strings.Contains(err.Error(), "writable") {
			t.Errorf("read-only: %v", err)
		}
	}
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""))
	w.add(set, item("b", "two"))
	w.has(set, "b", "two")
	if again, _ := set.Mask("a"); again != m {
		t.Errorf("masked as %+v, before as %+v", again, m)
	}
}
