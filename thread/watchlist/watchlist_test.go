package watchlist_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/thread/watchlist"
)

var names = []string{"CLAUDE.md", ".claude/", ".mcp.json", "LAST.md", "../CLAUDE.md", "/etc/passwd"}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func scan(t *testing.T, root, dir string) watchlist.State {
	t.Helper()
	s, err := watchlist.Scan(root, dir, names)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChanges(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "secret", "1")
	for _, tt := range []struct {
		name         string
		before, then func(t *testing.T, root string)
		want         string
	}{
		{"nothing", func(t *testing.T, root string) { put(t, root, "CLAUDE.md", "x") }, func(*testing.T, string) {}, "[]"},
		{"written", func(*testing.T, string) {}, func(t *testing.T, root string) { put(t, root, "CLAUDE.md", "x") }, "[CLAUDE.md (new)]"},
		{"changed", func(t *testing.T, root string) { put(t, root, "CLAUDE.md", "x") }, func(t *testing.T, root string) { put(t, root, "CLAUDE.md", "y") }, "[CLAUDE.md]"},
		{"removed", func(t *testing.T, root string) { put(t, root, ".mcp.json", "x") }, func(t *testing.T, root string) { _ = os.Remove(filepath.Join(root, ".mcp.json")) }, "[.mcp.json (gone)]"},
		{"in a folder", func(t *testing.T, root string) { put(t, root, ".claude/a/b.md", "x") }, func(t *testing.T, root string) {
			put(t, root, ".claude/a/b.md", "y")
			put(t, root, ".claude/settings.local.json", "{}")
		}, "[.claude/a/b.md .claude/settings.local.json (new)]"},
		{"in a folder between", func(*testing.T, string) {}, func(t *testing.T, root string) {
			put(t, root, "sub/CLAUDE.md", "x")
			put(t, root, "sub/dir/.mcp.json", "x")
			put(t, root, "other/CLAUDE.md", "x")
		}, "[sub/CLAUDE.md (new) sub/dir/.mcp.json (new)]"},
		{"same size and time", func(t *testing.T, root string) { put(t, root, "CLAUDE.md", "x") }, func(t *testing.T, root string) {
			info, _ := os.Stat(filepath.Join(root, "CLAUDE.md"))
			put(t, root, "CLAUDE.md", "y")
			_ = os.Chtimes(filepath.Join(root, "CLAUDE.md"), info.ModTime(), info.ModTime())
		}, "[CLAUDE.md]"},
		{"a link inside", func(t *testing.T, root string) {
			put(t, root, "real.md", "x")
			_ = os.Symlink("real.md", filepath.Join(root, "CLAUDE.md"))
		}, func(t *testing.T, root string) { put(t, root, "real.md", "y") }, "[CLAUDE.md]"},
		{"a link to elsewhere is not followed", func(t *testing.T, root string) {
			_ = os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "CLAUDE.md"))
		},
			func(t *testing.T, _ string) { put(t, outside, "secret", "2") }, "[]"},
		{"a linked folder is not followed", func(t *testing.T, root string) { _ = os.Symlink(outside, filepath.Join(root, ".claude")) },
			func(t *testing.T, _ string) { put(t, outside, "more", "2") }, "[]"},
		{"a folder turned into a link", func(t *testing.T, root string) { put(t, root, ".claude/x", "x") }, func(t *testing.T, root string) {
			_ = os.RemoveAll(filepath.Join(root, ".claude"))
			_ = os.Symlink(outside, filepath.Join(root, ".claude"))
		}, "[.claude (new) .claude/x (gone)]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "sub", "dir")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			tt.before(t, root)
			before := scan(t, root, dir)
			tt.then(t, root)
			if got := fmt.Sprint(watchlist.Changes(before, scan(t, root, dir))); got != tt.want {
				t.Errorf("changes %s, want %s", got, tt.want)
			}
		})
	}
}

// TestBounds: a folder of an agent's making costs no more than a thousand files.
func TestBounds(t *testing.T) {
	root := t.TempDir()
	for i := range 1200 {
		put(t, root, fmt.Sprintf(".claude/skills/%d.md", i), "x")
	}
	put(t, root, ".mcp.json", strings.Repeat("x", 2<<20))
	put(t, root, "LAST.md", "x")
	if s := scan(t, root, root); len(s) > 1000 || s["LAST.md"] == "" || s[".mcp.json"] == "" {
		t.Errorf("looked at %d files, single ones left out", len(s))
	}
	// Of what is too large to be read, the time counts.
	before := scan(t, root, root)
	if err := os.Chtimes(filepath.Join(root, ".mcp.json"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(watchlist.Changes(before, scan(t, root, root))); got != "[.mcp.json]" {
		t.Errorf("a large file's change: %s", got)
	}
	modules := t.TempDir()
	put(t, modules, ".claude/node_modules/x/index.js", "x")
	if s := scan(t, modules, modules); len(s) != 0 {
		t.Errorf("packages are looked at: %v", s)
	}
	if s := scan(t, root, t.TempDir()); len(s) == 0 {
		t.Error("a folder elsewhere hides the root")
	}
	if _, err := watchlist.Scan(filepath.Join(root, "gone"), root, names); err == nil {
		t.Error("no error for a folder that is not there")
	}
}

func TestMessage(t *testing.T) {
	a, b := watchlist.State{"CLAUDE.md": "1", "x": "1"}, watchlist.State{"CLAUDE.md": "2"}
	if got := watchlist.Message(watchlist.WithoutGone(watchlist.Changes(a, b)), []string{"one", "two"}); got != "CLAUDE.md; agents that ran since: one, two" {
		t.Errorf("message %q", got)
	}
	many := watchlist.State{}
	for i := range 20 {
		many[fmt.Sprintf("%02d", i)] = "x"
	}
	if got := watchlist.Message(watchlist.Changes(nil, many), nil); !strings.HasSuffix(got, "07 (new) and 12 more") {
		t.Errorf("message %q", got)
	}
}
