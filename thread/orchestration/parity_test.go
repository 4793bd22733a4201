package orchestration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParity holds that this package and the verbs make the same calls on the record of work. What it compares is read from
// the sources, so that a call cannot be forgotten in a list. What neither makes is for the screen.
func TestParity(t *testing.T) {
	t.Parallel()
	calls := recordCalls(t, "../api/calls.go")
	if len(calls) < 20 {
		t.Fatalf("only %d calls on the record found: %v", len(calls), calls)
	}
	here, verbs := used(t, "*.go"), used(t, "../../cmd/orchestrator/verb/*.go")
	for _, name := range calls {
		if verbs[name] && !here[name] {
			t.Errorf("api.%s: a verb makes it, and this package does not", name)
		}
		if here[name] && !verbs[name] {
			t.Errorf("api.%s: this package makes it, and no verb does", name)
		}
	}
	for name := range here {
		if !slices.Contains(calls, name) {
			t.Errorf("api.%s: it is no call on the record", name)
		}
	}
}

// recordCalls returns the names of the calls of package api whose request or answer is of the record.
func recordCalls(t *testing.T, file string) []string {
	t.Helper()
	var names []string
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		ofRecord := false
		ast.Inspect(spec.Type, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "record" {
					ofRecord = true
				}
			}
			return true
		})
		if ofRecord {
			names = append(names, spec.Names[0].Name)
		}
		return true
	})
	return names
}

// used returns what of package api files name, of the calls that they make.
func used(t *testing.T, glob string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", glob, len(files), err)
	}
	all := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		maps.Copy(all, calledIn(parse(t, file)))
	}
	return all
}

// calledIn returns X for each api.X.Do and api.X.On, and for each api.X that is passed on.
func calledIn(f *ast.File) map[string]bool {
	all := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == "api" && s.Sel.Name != "Doer" {
			all[s.Sel.Name] = true
		}
		return true
	})
	return all
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
