package masks_test

import (
	"strings"
	"syscall"
	"testing"

	"orchestrator/contextmgr/masks"
)

// TestFullDisk: a batch that does not fit is refused and leaves nothing; what was masked stays, and what fits is masked.
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
	w := open(t, dir)
	set := w.set("t1", "")
	w.add(set, item("a", "kept"))
	for range 3 {
		big := []masks.New{item("b", "small"), item("c", strings.Repeat("x", 2<<20))}
		if err := set.Add(big); err == nil {
			t.Fatal("2 MB fit in 1")
		}
		if _, ok := set.Mask("b"); ok {
			t.Fatal("half of a batch is masked")
		}
	}
	// The log fits, its copy does not: the content can be read all the same.
	w.add(set, item("d", strings.Repeat("y", 500<<10)))
	m, ok := set.Mask("d")
	if _, got, err := w.Open(m.Token); !ok || err != nil || len(got) != 500<<10 {
		t.Errorf("masked %v, read %d bytes (%v)", ok, len(got), err)
	}
	w = w.again()
	w.has(w.set("t1", ""), "a", "kept")
	if n := len(w.set("t1", "").All()); n != 2 {
		t.Errorf("%d masks after a restart", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
