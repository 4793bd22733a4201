package verb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
)

// TestSourcesOfBundles: what is no file of the project, no text, or too large is an error that says so, and is not read.
func TestSourcesOfBundles(t *testing.T) {
	t.Parallel()
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(outside, "project")
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put("a.md", "text")
	put("dir/b.md", "text")
	put("../secret", "text")
	put("huge", "")
	err = errors.Join(os.Truncate(filepath.Join(root, "huge"), 1<<30), os.Symlink("../secret", filepath.Join(root, "out")), os.Symlink("a.md", filepath.Join(root, "in")),
		os.Symlink("/dev/zero", filepath.Join(root, "zero")), os.Symlink("loop", filepath.Join(root, "loop")), syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, person, agent string // what is said, "" if it is read
	}{
		{"a.md", "", ""}, {"dir/b.md", "", ""}, {"in", "", ""}, {"./dir/../a.md", "", ""}, {filepath.Join(root, "a.md"), "", ""},
		{"nothing.md", "no such file", "no such file"}, {"dir", "a folder", "a folder"}, {"huge", "1 GiB", "1 GiB"}, {"pipe", "pipe", "pipe"},
		{"out", "a link that leads out", "a link that leads out"}, {"zero", "a link that leads out", "a link that leads out"}, {"loop", "too many links", "too many links"},
		{"../secret", "", "outside the project"}, {filepath.Join(outside, "secret"), "", "outside the project"},
	} {
		for agent, says := range map[bool]string{false: c.person, true: c.agent} {
			s := &sources{here: root, roots: []string{root}, agent: agent, left: bundle.MostContent}
			content, err := s.read(c.name)
			if says == "" && (err != nil || string(content) != "text" || s.left != bundle.MostContent-4) || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
				t.Errorf("%s, agent %v: %.40q, %v, want %q", c.name, agent, content, err, says)
			}
		}
	}
	s := &sources{here: root, roots: []string{root}, left: 7}
	_, err = s.items([]bundle.Item{{Source: "a.md"}, {Source: "dir/b.md"}, {Source: "nothing"}}, "")
	if err == nil || !strings.Contains(err.Error(), "dir/b.md: 4 B") || !strings.Contains(err.Error(), "nothing: no such file") || !errors.Is(err, thread.ErrLimit) {
		t.Errorf("%v", err)
	}
}

// TestBundlesInBundles stand for what is in them, and none includes itself.
func TestBundlesInBundles(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	form := func(sources ...string) string {
		var items []string
		for _, s := range sources {
			items = append(items, `{"type":"file","source":"`+s+`","token_count":1,"priority":"recommended"}`)
		}
		return `{"context_items":[` + strings.Join(items, ",") + `]}`
	}
	for name, content := range map[string]string{
		"a.md": "a", "b.md": "b", "inner.json": form("a.md", "b.md"), "outer.json": form("inner.json", "b.md"), "self.json": form("self.json"),
		"one.json": form("a.md", "two.json"), "two.json": form("one.json"), "data.json": `{"a":1}`,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ source, into, want string }{
		{"outer.json", "", "a.md b.md b.md"}, {"data.json", "", "data.json"}, {"inner.json", "outer.json", "a.md b.md"},
		{"self.json", "", "includes itself: self.json"}, {"one.json", "", "one.json -> two.json -> one.json"}, {"outer.json", "inner.json", "includes itself"},
	} {
		s := &sources{here: root, roots: []string{root}, left: bundle.MostContent}
		items, err := s.items([]bundle.Item{{Source: c.source}}, c.into)
		var got []string
		for _, it := range items {
			got = append(got, it.Source)
		}
		if text := strings.Join(got, " "); err == nil && text != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s into %q: %q, %v, want %q", c.source, c.into, text, err, c.want)
		}
	}
}
