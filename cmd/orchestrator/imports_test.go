package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestImports holds the direction of the imports between the top-level folders:
// thread ← checkpoint, agent, contextmgr, mcpctl ← cmd; ui → thread, agent/vterm. Only cmd imports the use cases.
func TestImports(t *testing.T) {
	allowed := map[string][]string{
		"thread":     {"thread"},
		"checkpoint": {"thread", "checkpoint"},
		"agent":      {"thread", "agent"},
		"contextmgr": {"thread", "contextmgr"},
		"mcpctl":     {"thread", "mcpctl"},
		"ui":         {"thread", "ui", "agent/vterm"},
		"cmd":        {"thread", "checkpoint", "agent", "contextmgr", "mcpctl", "ui", "cmd"},
	}
	// What the tests of a folder may also use: suites and stores that stand in for the real ones.
	tests := map[string][]string{
		"thread": {"checkpoint/checkpointtest/memory", "checkpoint/worktest/memory", "checkpoint/plantest/memory", "checkpoint/workfile", "checkpoint/workdb", "checkpoint/sqlite", "checkpoint/snapshot",
			"checkpoint/worktree", "checkpoint/branch"},
	}
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		may, ok := allowed[top]
		if !ok {
			t.Errorf("%s: no Go files belong there", rel)
			return nil
		}
		if strings.HasSuffix(rel, "_test.go") {
			may = append(append([]string(nil), may...), tests[top]...)
		}
		checkImports(t, path, rel, top, may)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImports(t *testing.T, path, rel, top string, may []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		ours, inside := strings.CutPrefix(imported, "orchestrator/")
		switch {
		case below(ours, []string{"thread/manager"}) && top != "cmd" && !strings.HasPrefix(rel, "thread/manager/"):
			t.Errorf("%s imports %s; only cmd wires the use cases", rel, imported)
		case strings.HasPrefix(rel, "thread/ground/") && inside && !strings.HasSuffix(rel, "_test.go") &&
			!below(ours, []string{"thread/ground"}):
			t.Errorf("%s imports %s; the ground knows nothing of threads", rel, imported)
		case inside:
			if !below(ours, may) {
				t.Errorf("%s imports %s; %s may import %s only", rel, imported, top, strings.Join(may, ", "))
			}
		case top == "thread" && !strings.HasPrefix(rel, "thread/ground/") && !strings.HasSuffix(rel, "_test.go") &&
			strings.Contains(imported, "."):
			t.Errorf("%s imports %s; thread imports the standard library only", rel, imported)
		case strings.HasPrefix(imported, "charm.land/") && top != "ui" && top != "cmd":
			t.Errorf("%s imports %s; only ui and cmd draw", rel, imported)
		}
	}
}

func below(path string, folders []string) bool {
	for _, f := range folders {
		if path == f || strings.HasPrefix(path, f+"/") {
			return true
		}
	}
	return false
}
