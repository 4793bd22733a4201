package attachment_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/thread/attachment"
)

func TestPut(t *testing.T) {
	f := attachment.At(filepath.Join(t.TempDir(), "threads", "a", "read"))
	if !f.Empty() {
		t.Error("is not empty before it is there")
	}
	if err := f.Make(); err != nil || !f.Empty() {
		t.Errorf("make: %v, empty %v", err, f.Empty())
	}
	for _, text := range []string{"one", "two", "two", ""} {
		path, err := f.Put("handoff-1/result.txt", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text || path != filepath.Join(f.Dir(), "handoff-1", "result.txt") {
			t.Errorf("%s holds %q, want %q: %v", path, got, text, err)
		}
	}
	if f.Empty() {
		t.Error("is empty with a file")
	}
	count := 0
	err := filepath.WalkDir(filepath.Dir(f.Dir()), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o400)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		} else {
			count++
		}
		if err == nil && info.Mode() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || count != 1 {
		t.Errorf("%d files: %v", count, err)
	}
}

// TestHostile: what lies in the way leads nowhere else.
func TestHostile(t *testing.T) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := attachment.At(filepath.Join(t.TempDir(), "read"))
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/../../x"} {
		if path, err := f.Put(name, []byte("x")); err == nil {
			t.Errorf("put %q at %s", name, path)
		}
	}
	if err := os.Symlink(victim, filepath.Join(f.Dir(), "file")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Put("file", []byte("ours")); err != nil {
		t.Error(err) // replaces the link itself
	}
	if err := os.Symlink(outside, filepath.Join(f.Dir(), "sub")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Put("sub/victim", []byte("ours")); err == nil {
		t.Error("put through a linked folder")
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "mine" {
		t.Errorf("the file outside holds %q: %v", got, err)
	}
	link := filepath.Join(t.TempDir(), "read")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if _, err := attachment.At(link).Put("x", []byte("x")); err == nil {
		t.Error("the folder itself may be a link")
	}
	if _, err := attachment.At("read").Put("x", []byte("x")); err == nil {
		t.Error("the folder may be relative")
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := attachment.At(open).Make(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a folder open to others stays %v: %v", info.Mode(), err)
	}
}

// TestLink: a file is here without a copy, stays when it is removed elsewhere, and leads nowhere else.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "staged")
	if err := os.WriteFile(file, []byte("large"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := attachment.At(filepath.Join(dir, "read"))
	for range 2 {
		path, err := f.Link("handoff-1/result.txt", file)
		if err != nil {
			t.Fatal(err)
		}
		here, err1 := os.Stat(path)
		there, err2 := os.Stat(file)
		if err1 != nil || err2 != nil || !os.SameFile(here, there) || here.Mode() != 0o400 {
			t.Errorf("%v, %v; %v, %v", here.Mode(), there.Mode(), err1, err2)
		}
	}
	if list, err := os.ReadDir(f.Dir()); err != nil || len(list) != 1 {
		t.Errorf("left are %v, %v", list, err)
	}
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/../../x"} {
		if path, err := f.Link(name, file); err == nil {
			t.Errorf("linked %q at %s", name, path)
		}
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(f.Dir(), "sub")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Link("sub/x", file); err == nil {
		t.Error("linked through a linked folder")
	}
	if _, err := f.Link("missing", filepath.Join(dir, "missing")); err == nil {
		t.Error("linked what is not there")
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("outside are %v, %v", list, err)
	}
	if list, err := os.ReadDir(f.Dir()); err != nil || len(list) != 2 {
		t.Errorf("left are %v, %v", list, err)
	}
}
