package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestExportAndImportElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("carry me")
	r.turn(name, "write notes.txt: one")
	r.turn(name, "write notes.txt: two")
	file := filepath.Join(r.home, "carried")
	r.ok("export", name, "-o", file)
	r.says(exitError, []string{"exist"}, "export", name, "-o", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the archive: %v %v", info, err)
	}

	there := newRig(t)
	s := get[thread.Status](there, "import", file)
	if s.Turn != 2 || s.Agent != "demo" || !strings.HasPrefix(s.Name, "carry-me-") || s.Dir != there.project {
		t.Fatalf("the import: %+v", s.Thread)
	}
	if out := there.ok("checkpoint", "show", s.Name, "1"); !strings.Contains(out, "one") {
		t.Errorf("turn 1:\n%s", out)
	}
	there.ok("checkpoint", "restore", "--files", s.Name, "1")
	if got := there.read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("the files of turn 1: %q", got)
	}
	there.ok("resume", s.Name)
	there.turn(s.Name, "list files")
	if s := there.status(s.Name); s.Turn != 3 {
		t.Errorf("turn %d after going on", s.Turn)
	}
	there.says(exitUsage, []string{"README.md", "invalid"}, "import", "README.md")
	there.says(exitError, []string{"missing.file"}, "import", "missing.file")
}
