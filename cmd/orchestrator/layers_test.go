package main

import (
	"bytes"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesStandOnEachOther holds that the files of a package form layers: a file uses names of files below it, never
// of one that uses it, not even by way of others. A file uses another one where it names a function, type, method,
// field, variable or constant that the other declares.
func TestFilesStandOnEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it reads the whole project; `go test ./cmd/orchestrator` runs it")
	}
	packages := listPackages(t, "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./...")
	exports := make(map[string]string)
	for _, line := range listPackages(t, "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "./...") {
		path, file, _ := strings.Cut(line, "\t")
		exports[path] = file
	}
	for _, path := range packages {
		path = strings.TrimPrefix(path, "orchestrator/")
		t.Run(path, func(t *testing.T) {
			s := readSource(t, path, exports)
			g := s.fileGraph()
			for _, ring := range g.rings() {
				t.Errorf("%d files of %s use each other:\n%s", len(ring), path, g.describe(ring))
			}
			s.checkTypes(t)
		})
	}
}

// maxMethods is how many methods a type may answer to, those promoted from what it embeds included.
const maxMethods = 70

// manyMethods are the types that may have more, and why.
var manyMethods = map[string]string{
	"orchestrator/agent/vterm.Terminal": "a sequence of the terminal is a method, and there are that many",
}

// flat are the types that embed more deeply, and why.
var flat = map[string]string{
	"orchestrator/thread.Exported":                   "a record without methods of its own: its JSON is one flat object",
	"orchestrator/thread.Imported":                   "the same",
	"orchestrator/cmd/orchestrator/verb/page.Thread": "the same",
	"orchestrator/cmd/orchestrator/e2e.Listed":       "the same",
}

// checkTypes holds that no type answers to more than maxMethods, and that what is embedded embeds nothing of ours.
func (s source) checkTypes(t *testing.T) {
	t.Helper()
	for _, name := range s.pkg.Scope().Names() {
		o, ok := s.pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || o.IsAlias() {
			continue
		}
		full := s.pkg.Path() + "." + name
		if n := methods(o.Type()); n > maxMethods && manyMethods[full] == "" {
			t.Errorf("%s answers to %d methods, at most %d are allowed: give it parts with names", full, n, maxMethods)
		}
		if path := embedding(o.Type()); len(path) > 2 && flat[full] == "" {
			t.Errorf("%s: embed one type of ours in another, and nothing in that: give the parts names",
				strings.Join(path, " embeds "))
		}
	}
}

// methods counts what a type or a pointer to it answers to.
func methods(t types.Type) int {
	if types.IsInterface(t) {
		return types.NewMethodSet(t).Len()
	}
	return types.NewMethodSet(types.NewPointer(t)).Len()
}

// embedding is the longest chain of types of this module of which each embeds the next, beginning with a type.
func embedding(t types.Type) []string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || !strings.HasPrefix(n.Obj().Pkg().Path()+"/", "orchestrator/") {
		return nil
	}
	var longest []string
	if s, ok := n.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if !f.Embedded() {
				continue
			}
			if path := embedding(f.Type()); len(path) > len(longest) {
				longest = path
			}
		}
	}
	return append([]string{n.Obj().Pkg().Name() + "." + n.Obj().Name()}, longest...)
}

// TestEmbeddingIsCounted tries the check itself.
func TestEmbeddingIsCounted(t *testing.T) {
	const code = `package p
type a struct{}
func (a) one() {}
func (*a) two() {}
type b struct{ *a }
func (b) three() {}
type c struct { x int; b }
type d struct { c c }`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", code, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("orchestrator/p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a": "2 p.a", "b": "3 p.b p.a", "c": "3 p.c p.b p.a", "d": "0 p.d",
	} {
		o := pkg.Scope().Lookup(name).Type()
		if got := fmt.Sprint(methods(o), " ", strings.Join(embedding(o), " ")); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// listPackages returns what `go list` prints for the project, without empty lines.
func listPackages(t *testing.T, args ...string) []string {
	t.Helper()
	list := exec.Command("go", append([]string{"list"}, args...)...)
	list.Dir = "../.."
	var problems bytes.Buffer
	list.Stderr = &problems
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list the packages: %v: %s", err, &problems)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
}

// arrows are, for each file, the files that it uses, and by which names.
type arrows map[string]map[string][]string

// source is a package without its tests, with the types of its names.
type source struct {
	pkg   *types.Package
	fset  *token.FileSet
	names *types.Info
}

func readSource(t *testing.T, path string, exports map[string]string) source {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../..", path, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		ours, err := gobuild.Default.MatchFile(filepath.Split(name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") || !ours {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no files", path)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	pkg, err := conf.Check("orchestrator/"+path, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	return source{pkg, fset, info}
}

// fileGraph says which files of a package use which.
func (s source) fileGraph() arrows {
	g := make(arrows)
	for id, used := range s.names.Uses {
		if used.Pkg() != s.pkg || !shared(used) {
			continue
		}
		from, to := filepath.Base(s.fset.Position(id.Pos()).Filename), filepath.Base(s.fset.Position(used.Pos()).Filename)
		if from == to {
			continue
		}
		if g[from] == nil {
			g[from] = make(map[string][]string)
		}
		if !slices.Contains(g[from][to], used.Name()) {
			g[from][to] = append(g[from][to], used.Name())
		}
	}
	return g
}

// shared reports whether a name is known outside of the function that it is declared in.
func shared(o types.Object) bool {
	switch o := o.(type) {
	case *types.PkgName:
		return false
	case *types.Func:
		return true
	case *types.Var:
		return o.IsField() || o.Parent() == o.Pkg().Scope()
	}
	return o.Parent() == o.Pkg().Scope()
}

// rings returns the sets of files of which each one reaches every other one.
func (g arrows) rings() [][]string {
	reach := make(map[string]map[string]bool)
	for from := range g {
		reach[from] = make(map[string]bool)
		g.walk(from, reach[from])
	}
	var rings [][]string
	seen := make(map[string]bool)
	for _, from := range slices.Sorted(maps.Keys(g)) {
		if !reach[from][from] || seen[from] {
			continue
		}
		var ring []string
		for _, to := range slices.Sorted(maps.Keys(reach[from])) {
			if reach[to][from] {
				ring = append(ring, to)
				seen[to] = true
			}
		}
		rings = append(rings, ring)
	}
	return rings
}

func (g arrows) walk(from string, reached map[string]bool) {
	for to := range g[from] {
		if !reached[to] {
			reached[to] = true
			g.walk(to, reached)
		}
	}
}

// describe names what the files of a ring use of each other.
func (g arrows) describe(ring []string) string {
	var b strings.Builder
	for _, from := range ring {
		for _, to := range ring {
			if names := g[from][to]; len(names) > 0 {
				slices.Sort(names)
				fmt.Fprintf(&b, "%s → %s: %s\n", from, to, strings.Join(names, ", "))
			}
		}
	}
	return b.String()
}

// TestRingsAreFound tries the check itself.
func TestRingsAreFound(t *testing.T) {
	g := arrows{
		"a.go": {"b.go": {"B"}}, "b.go": {"c.go": {"C"}}, "c.go": {"b.go": {"D"}},
		"d.go": {"a.go": {"A"}, "e.go": {"E"}}, "e.go": {"f.go": {"F"}}, "f.go": {"e.go": {"G"}},
	}
	got := fmt.Sprint(g.rings())
	if want := "[[b.go c.go] [e.go f.go]]"; got != want {
		t.Errorf("rings are %s, want %s", got, want)
	}
	if got, want := g.describe([]string{"b.go", "c.go"}), "b.go → c.go: C\nc.go → b.go: D\n"; got != want {
		t.Errorf("described as %q, want %q", got, want)
	}
}
