package orchestration_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuide compares the table of the API guide with the package: each of its calls has a row, and each method that a row
// names is there and makes that call.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.github/RECORD.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (`[a-z ]+`(?:, `[a-z ]+`)*) \\| `([A-Za-z]+)` \\| (`[A-Za-z.]+`(?:, `[A-Za-z.]+`)*) \\|$")
	makes, told := callsOf(t), map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		told[m[2]] = true
		for _, name := range strings.Split(strings.ReplaceAll(m[3], "`", ""), ", ") {
			if !makes[name][m[2]] {
				t.Errorf("%s: there is no such function, or it makes no api.%s", name, m[2])
			}
		}
	}
	for name := range used(t, "*.go") {
		if !told[name] {
			t.Errorf("api.%s has no row in the guide", name)
		}
	}
}

// callsOf returns the exported functions and methods of the package, each with the calls that it makes, itself or through
// another function of the package.
func callsOf(t *testing.T) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls, through := map[string]map[string]bool{}, map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, d := range parse(t, file).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				of := f.Recv.List[0].Type
				if p, is := of.(*ast.StarExpr); is {
					of = p.X
				}
				name = of.(*ast.Ident).Name + "." + name
			}
			calls[name] = map[string]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "api" {
						calls[name][n.Sel.Name] = true
					}
					through[name] = append(through[name], "Session."+n.Sel.Name, "Execution."+n.Sel.Name)
				case *ast.Ident:
					through[name] = append(through[name], n.Name)
				}
				return true
			})
		}
	}
	for name, others := range through {
		for _, other := range others {
			for call := range calls[other] {
				calls[name][call] = true
			}
		}
	}
	return calls
}
