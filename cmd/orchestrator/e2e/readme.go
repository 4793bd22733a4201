package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Readme returns a section of the README, and the first and second cells of its first table.
func Readme(t *testing.T, section string) (text string, rows [][2]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(Root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), "\n## "+section+"\n")
	if !found {
		t.Fatalf("the README has no section %q", section)
	}
	text, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "--") {
			continue
		}
		rows = append(rows, [2]string{strings.TrimSpace(strings.ReplaceAll(cells[1], "\x00", "|")), strings.TrimSpace(strings.ReplaceAll(cells[2], "\x00", "|"))})
	}
	if len(rows) < 10 {
		t.Fatalf("section %q has %d rows", section, len(rows))
	}
	return text, rows[1:]
}

var quoted = regexp.MustCompile("`([^`]+)`")

// Quotes returns what a text quotes as code.
func Quotes(text string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}
