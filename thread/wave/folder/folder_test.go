package folder

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// made makes a folder with files, and something outside of it.
func made(t *testing.T) (*Folder, string) {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "agent")
	for name, text := range map[string]string{
		"agent/out/a.txt": "A", "agent/out/deep/b.csv": "b,c\n", "agent/.git/config": "[core]", "agent/x.png": "\x89PNG", "outside/secret": "secret",
	} {
		path := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Symlink("../outside/secret", filepath.Join(dir, "link")), os.Symlink("../outside", filepath.Join(dir, "linked")),
		os.Symlink("out", filepath.Join(dir, "within")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func read(f *Folder, name string) (string, error) {
	var b bytes.Buffer
	err := f.Read(name, func(data io.Reader, _ int64) error { _, err := b.ReadFrom(data); return err })
	return b.String(), err
}

func TestFilesAreReadAsTheyAre(t *testing.T) {
	t.Parallel()
	f, dir := made(t)
	for given, want := range map[string]string{"out/a.txt": "A", "./out//deep/b.csv": "b,c\n", filepath.Join(dir, "x.png"): "\x89PNG"} {
		name, err := f.Name(given)
		if err != nil {
			t.Fatalf("%s: %v", given, err)
		}
		if text, err := read(f, name); text != want || err != nil {
			t.Errorf("%s: %q, %v", given, text, err)
		}
	}
	for _, c := range []struct{ patterns, want []string }{
		{[]string{"**/*.csv", "*.png"}, []string{"out/deep/b.csv", "x.png"}}, {[]string{"out/"}, []string{"out/a.txt", "out/deep/b.csv"}},
	} {
		if names, err := f.Find(c.patterns); !slices.Equal(names, c.want) || err != nil {
			t.Errorf("%q: %q, %v", c.patterns, names, err)
		}
	}
}

func TestNothingElseIsRead(t *testing.T) {
	t.Parallel()
	f, dir := made(t)
	large, err := os.Create(filepath.Join(dir, "large"))
	if err == nil {
		err = errors.Join(large.Truncate(plan.MaxFile+1), large.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"link": "is a link", "linked/secret": "is a link", "within/a.txt": "is a link", "pipe": "is not a file", "out": "is not a file",
		"none": "there is no file", "out/a.txt/x": "there is no file", "large": "at most 256",
	} {
		if text, err := read(f, name); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, thread.ErrInvalid) || text != "" {
			t.Errorf("%s: %q, %v; not %q", name, text, err, want)
		}
	}
	for _, given := range []string{"", ".", "..", "../outside/secret", "/etc/passwd", "out/../../outside/secret", ".git/config", "out/.GIT/x", "a\x1b[31m", "a\nb"} {
		if name, err := f.Name(given); !errors.Is(err, thread.ErrInvalid) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q is %q, %v", given, name, err)
		}
	}
	for _, pattern := range []string{"link", "pipe", "linked/*", ".git/**", "*.pdf"} {
		if names, err := f.Find([]string{pattern}); err == nil {
			t.Errorf("%q finds %q", pattern, names)
		}
	}
}

func TestWhatChangesMeanwhileIsRefused(t *testing.T) {
	t.Parallel()
	f, dir := made(t)
	for _, size := range []int64{0, 5} {
		err := f.Read("out/a.txt", func(data io.Reader, _ int64) error {
			if err := os.Truncate(filepath.Join(dir, "out/a.txt"), size); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, data)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%d bytes: %v", size, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "out/a.txt"), []byte("A"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
