package glyph

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

func TestTable(t *testing.T) {
	if n, m := utf8.RuneCountInString(ours), len(instead); n != m {
		t.Fatalf("%d glyphs, %d characters", n, m)
	}
	seen := map[rune]bool{}
	for _, r := range ours {
		b, ok := Of(r)
		if seen[r] || !ok || b <= ' ' || b >= 0x7f || displaywidth.Rune(r) != 1 {
			t.Errorf("%q: %q %v", r, b, ok)
		}
		seen[r] = true
	}
	for _, r := range "aä日\x00⎿" {
		if b, ok := Of(r); ok {
			t.Errorf("%q is %q", r, b)
		}
	}
}

// The marks of groups, the frames of a spinner, and a bar's filled and empty cells are told apart.
func TestToldApart(t *testing.T) {
	for _, set := range []string{"◆◐●▲○", "◐◓◑◒", "━─┊", "█▒░", "□■", "×✓", "▸▾"} {
		seen := map[byte]rune{}
		for _, r := range set {
			b, _ := Of(r)
			if other, taken := seen[b]; taken {
				t.Errorf("%q and %q are both %q", other, r, b)
			}
			seen[b] = r
		}
	}
}

func TestShown(t *testing.T) {
	for _, c := range []struct {
		set   Set
		char  string
		width int
		want  string
	}{
		{Unicode, "◆", 1, "◆"}, {ASCII, "◆", 1, "!"}, {Bytes, "◆", 1, "!"}, {ASCII, "a", 1, "a"}, {Bytes, "a", 1, "a"},
		{ASCII, "ä", 1, "ä"}, {Bytes, "ä", 1, "?"}, {Bytes, "日", 2, "??"}, {ASCII, "日", 2, "日"}, {Bytes, "e\u0301", 1, "?"},
		{ASCII, "▲\ufe0f", 2, "▲\ufe0f"}, {Bytes, "▲\ufe0f", 2, "??"}, {Bytes, "\xff", 1, "\xff"}, {ASCII, "␛", 1, "^"}, {Bytes, "\ufffd", 1, "?"},
	} {
		if got := c.set.Shown(c.char, c.width); got != c.want {
			t.Errorf("%d, %q: %q, want %q", c.set, c.char, got, c.want)
		}
	}
	if got := Bytes.Text("a · é"); got != "a - ?" {
		t.Errorf("%q", got)
	}
}

// Everything beyond ASCII that the sources draw is in the table: of the interface, of what the domain has it say, and of
// the demo agent.
func TestSourcesDrawNothingElse(t *testing.T) {
	for _, root := range []string{"..", "../../thread", "../../agent/demo"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && (d.Name() == "suggest" || d.Name() == "handoff") {
				return fs.SkipDir // they read the languages of prompts
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING || !drawn(lit.Value) {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range text {
					if _, ok := Of(r); r >= 0x7f && !ok {
						t.Errorf("%s: %q (%U) is not in the table", path, r, r)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// drawn reports whether a literal has characters that are written out: escapes name characters of others.
func drawn(literal string) bool {
	return strings.ContainsFunc(literal, func(r rune) bool { return r >= 0x7f })
}
