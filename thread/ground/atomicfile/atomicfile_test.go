package atomicfile_test

import (
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
