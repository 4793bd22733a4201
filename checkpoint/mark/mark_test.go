package mark

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

func folder(t *testing.T) *private.Folder {
	t.Helper()
	dir, err := private.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// TestMark writes marks and damages the file: what is read is never newer than what was put, and at most one older
// while one of the slots is whole.
func TestMark(t *testing.T) {
	dir := folder(t)
	if _, err := Read(dir, "m"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	now := Mark{DB: ID{1, 2, 3}, Seq: 7}
	f, err := Open(dir, "m", now)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		now.Seq++
		if err := f.Put(now); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(dir, "m"); err != nil || got != now {
			t.Errorf("got %v, want %v: %v", got, now, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := dir.Read("m", 1<<20)
	if err != nil || len(whole) != all {
		t.Fatalf("%d bytes: %v", len(whole), err)
	}
	for at := range whole {
		bad := bytes.Clone(whole)
		bad[at] ^= 1
		if err := os.WriteFile(filepath.Join(dir.Path(), "m"), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(dir, "m"); err != nil || got.DB != now.DB || got.Seq > now.Seq || got.Seq+1 < now.Seq {
			t.Fatalf("byte %d: %v, %v", at, got, err)
		}
		if at%slot > Size {
			break // the rest is air
		}
	}
	if err := os.Truncate(dir.Path("m"), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, "m"); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("a cut file: %v", err)
	}
}

// TestNoLinks refuses a link in the mark's place, for reading and for writing.
func TestNoLinks(t *testing.T) {
	dir := folder(t)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, dir.Path("m")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, "m"); err == nil {
		t.Error("a link is read")
	}
	if _, err := Open(dir, "m", Mark{}); err == nil {
		t.Error("a link is written through")
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "keep" {
		t.Errorf("the victim holds %q: %v", b, err)
	}
}
