package ui

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFeaturesStandAlone holds that a feature, which is built on ui/host, names neither another one nor the
// root, and that the kinds of dialog know nothing of threads.
func TestFeaturesStandAlone(t *testing.T) {
	names, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	imports := make(map[string][]string) // of a folder
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports[filepath.Dir(name)] = append(imports[filepath.Dir(name)], path)
		}
	}
	feature := func(folder string) bool { return slices.Contains(imports[folder], "orchestrator/ui/host") }
	for folder, paths := range imports {
		for _, path := range paths {
			other, below := strings.CutPrefix(path, "orchestrator/ui/")
			switch {
			case path == "orchestrator/ui":
				t.Errorf("%s imports the root", folder)
			case below && feature(folder) && feature(other):
				t.Errorf("the feature %s imports %s", folder, path)
			case folder == "dialog" && strings.HasPrefix(path, "orchestrator/thread"):
				t.Errorf("dialog imports %s", path)
			}
		}
	}
	if !feature("fork") || feature("dialog") {
		t.Error("features are not told from what they stand over")
	}
}
