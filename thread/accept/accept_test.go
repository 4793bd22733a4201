package accept_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread/accept"
)

func TestNames(t *testing.T) {
	for line, want := range map[string][]string{
		"./tools/setup.sh --fast":           {"--fast", "tools/setup.sh"},
		"sh 'a/b' && cat <c >d|e;f":         {"a/b", "c", "cat", "d", "e", "f", "sh"},
		"X=y/z make -C sub":                 {"-C", "X", "make", "sub", "y/z"},
		"/work/p/bin/x /usr/bin/env ../out": {"bin/x"},
		". ..  / a/../../b":                 nil,
	} {
		if got := accept.Names([]accept.Command{{Line: line}}, "/work/p"); !slices.Equal(got, want) {
			t.Errorf("%s names %q, want %q", line, got, want)
		}
	}
}

// TestMissing: what a command names and is not there yet is named, and nothing else.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"npm ci":                         nil,
		"./there.sh --to=./out":          {"out"},
		"sh ./there.sh && ./later.sh":    {"later.sh"},
		"make build; build/tool ./x ./x": {"build/tool", "x"},
		"curl https://example.com/x.sh -C a/b /usr/bin/env": {"a/b"},
		dir + "/there.sh " + dir + "/not.sh":                {"not.sh"},
	} {
		if got := accept.Missing([]accept.Command{{Line: line}}, accept.Folder(dir), dir); !slices.Equal(got, want) {
			t.Errorf("%s: %q are missing, want %q", line, got, want)
		}
	}
}

// TestContent: everything that counts changes it, and nothing else.
func TestContent(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("x.sh", "one")
	put("other", "one")
	of := func(lines ...string) string {
		t.Helper()
		var all []accept.Command
		for _, l := range lines {
			all = append(all, accept.Command{Name: "n", Line: l})
		}
		b, err := accept.Content(all, accept.Folder(dir), dir)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	was := of("sh x.sh")
	if !strings.Contains(was, `file "x.sh"`) || of("sh x.sh ") == was || of("sh x.sh", "") == was || of("sh\nx.sh") == was {
		t.Errorf("content %q", was)
	}
	put("other", "two")
	if of("sh x.sh") != was {
		t.Error("a file that is not named counts")
	}
	put("x.sh", "two")
	if of("sh x.sh") == was {
		t.Error("a changed file does not count")
	}
	if err := os.Remove(filepath.Join(dir, "x.sh")); err != nil {
		t.Fatal(err)
	}
	if got := of("sh x.sh"); got == was || strings.Contains(got, "file") {
		t.Errorf("a file that is gone: %q", got)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "x.sh")); err != nil {
		t.Fatal(err)
	}
	if got := of("sh x.sh"); strings.Contains(got, "file") {
		t.Errorf("a link that leads out is read: %q", got)
	}
	if err := os.Remove(filepath.Join(dir, "x.sh")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", filepath.Join(dir, "x.sh")); err != nil {
		t.Fatal(err)
	}
	if got := of("sh x.sh"); !strings.Contains(got, `file "x.sh"`) {
		t.Errorf("a link within is not read: %q", got)
	}
}
