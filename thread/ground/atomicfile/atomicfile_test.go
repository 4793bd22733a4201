package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/thread/ground/atomicfile"
)

// TestWrite replaces a file, and a link itself; what cannot be replaced stays, and nothing is left beside it.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("theirs"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("theirs"), at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("folder/x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, durable := range []bool{false, true} {
		for _, name := range []string{"new", "new", "link"} {
			if err := atomicfile.Write(at(name), []byte("ours"), durable); err != nil {
				t.Error(err)
			}
			info, err := os.Lstat(at(name))
			if err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(at(name)); err != nil || string(b) != "ours" || info.Mode() != 0o600 {
				t.Errorf("%s is %q, %v, %v", name, b, info.Mode(), err)
			}
		}
		if err := atomicfile.Write(at("folder"), []byte("ours"), durable); err == nil {
			t.Error("a folder was replaced")
		}
		if err := atomicfile.Write(at("missing/new"), []byte("ours"), durable); err == nil {
			t.Error("written into a folder that is not there")
		}
	}
	if b, err := os.ReadFile(at("theirs")); err != nil || string(b) != "theirs" {
		t.Errorf("the target of the link is %q, %v", b, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestBelow: a name cannot lead out of the folder, New replaces nothing, and the permissions are those that were asked for.
func TestBelow(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Mkdir("in", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"a": true, "in/a": true, "out/a": false, "../a": false, "in": false, "none/a": false} {
		if err := atomicfile.Below(root, name, []byte("ours"), 0o400, true); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]error{"in/a": fs.ErrExist, "in/b": nil, "out": fs.ErrExist} {
		if err := atomicfile.New(root, name, []byte("new"), 0o660, false); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	for name, want := range map[string]fs.FileMode{"a": 0o400, "in/a": 0o400, "in/b": 0o660} {
		if info, err := root.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if entries, err := fs.ReadDir(root.FS(), "in"); err != nil || len(entries) != 2 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
