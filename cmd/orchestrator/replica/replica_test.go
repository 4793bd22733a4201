package replica_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/replica"
)

// script writes a small program and opens it.
func script(t *testing.T, says string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+says+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func keep(t *testing.T, dir string, self *os.File) *replica.Replica {
	t.Helper()
	c, err := replica.Keep(dir, self)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func says(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(path).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, out)
	}
	return string(out)
}

func TestACopyOutlivesTheOriginal(t *testing.T) {
	dir, self := filepath.Join(t.TempDir(), "bin"), script(t, "one")
	c := keep(t, dir, self)
	defer c.Close()
	if err := os.Remove(self.Name()); err != nil {
		t.Fatal(err)
	}
	if got := says(t, c.Path); got != "one\n" {
		t.Errorf("the copy says %q", got)
	}
	again := keep(t, dir, self) // the deleted file is still open
	defer again.Close()
	if again.Path != c.Path {
		t.Errorf("the same program is kept twice: %s, %s", c.Path, again.Path)
	}
}

func TestADamagedCopyIsMadeAgain(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"hollow":  func(p string) error { return os.Truncate(p, 0) },
		"changed": func(p string) error { return os.WriteFile(p, []byte("#!/bin/sh\necho bad\n"), 0o700) },
		"gone":    os.Remove,
		"a link":  func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/bin/false", p)) },
		"a folder": func(p string) error {
			return errors.Join(os.Remove(p), os.Mkdir(p, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, self := t.TempDir(), script(t, "one")
			c := keep(t, dir, self)
			c.Close()
			if err := damage(c.Path); err != nil {
				t.Fatal(err)
			}
			again, err := replica.Keep(dir, self)
			if name == "a folder" { // nothing of ours: named, not removed
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if got := says(t, again.Path); got != "one\n" {
				t.Errorf("the copy says %q", got)
			}
		})
	}
}

func TestWhatWasCutOffIsRemoved(t *testing.T) {
	dir, self := t.TempDir(), script(t, "one")
	c := keep(t, dir, self)
	c.Close()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	half := fmt.Sprintf("%s.%d", c.Path, gone.Process.Pid)
	if err := errors.Join(os.WriteFile(half, []byte("#!/bin"), 0o700), os.Remove(c.Path)); err != nil {
		t.Fatal(err)
	}
	again := keep(t, dir, self)
	defer again.Close()
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a copy is still there: %v", err)
	}
}

// TestWhatIsRemembered holds that a program is not read again while its file is the same, and that what is remembered
// wrongly costs only that.
func TestWhatIsRemembered(t *testing.T) {
	dir, self := filepath.Join(t.TempDir(), "bin"), script(t, "one")
	first := keep(t, dir, self)
	memory := filepath.Join(dir, "known.json")
	raw, err := os.ReadFile(memory)
	if err != nil || strings.Count(string(raw), ":") != 1+4+1 {
		t.Fatalf("remembered %s, %v: only the copy, for the script may still change within the clock's resolution", raw, err)
	}
	copied, err := os.Open(first.Path) // what a server runs
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if again := keep(t, dir, copied); again.Path != first.Path {
		t.Errorf("the copy's copy is %s", again.Path)
	}
	sum := filepath.Base(filepath.Dir(first.Path))
	for name, content := range map[string]string{
		"another sum": strings.Replace(string(raw), sum, strings.Repeat("0", len(sum)), 1),
		"half":        string(raw[:len(raw)/2]),
		"short sum":   strings.Replace(string(raw), sum, "", 1),
		"nothing":     "",
		"null":        "null",
	} {
		if err := os.WriteFile(memory, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if again := keep(t, dir, copied); again.Path != first.Path || says(t, again.Path) != "one\n" {
			t.Errorf("%s: the copy is %s", name, again.Path)
		}
	}
	// A program that is changed keeps its size; its file's time can be set back, the time of its change cannot.
	info, err := os.Stat(first.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first.Path, []byte("#!/bin/sh\necho bad\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(first.Path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if again := keep(t, dir, self); says(t, again.Path) != "one\n" {
		t.Error("a changed copy is used")
	}
}

func TestSweepLeavesWhatIsHeld(t *testing.T) {
	dir := t.TempDir()
	old, held := keep(t, dir, script(t, "old")), keep(t, dir, script(t, "held"))
	defer held.Close()
	old.Close()
	foreign := filepath.Join(dir, "notes")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	n, err := replica.Sweep(dir)
	if err != nil || n != 1 {
		t.Errorf("swept %d, %v", n, err)
	}
	if _, err := os.Stat(old.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old copy: %v", err)
	}
	if got := says(t, held.Path); got != "held\n" {
		t.Errorf("the held copy says %q", got)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("a folder that is no copy is gone")
	}
}

// TestSweepPassesOverWhatItCannotRemove: what is not as a copy should be keeps no other copy from being removed, and the
// error is one line that names it.
func TestSweepPassesOverWhatItCannotRemove(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, script(t, "old")).Close()
	victim := filepath.Join(t.TempDir(), "victim")
	for _, name := range []string{"0000000000000000", "ffffffffffffffff"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o700), os.Symlink(victim, filepath.Join(dir, name, "lock"))); err != nil {
			t.Fatal(err)
		}
	}
	n, err := replica.Sweep(dir)
	if n != 1 || err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "0000000000000000")) || !strings.Contains(err.Error(), "1 more") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("swept %d, %v", n, err)
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("something was made through a link")
	}
}

func TestKeepWhileSweeping(t *testing.T) {
	dir, self := t.TempDir(), script(t, "one")
	var all sync.WaitGroup
	defer all.Wait()
	stop := make(chan struct{})
	defer close(stop)
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if _, err := replica.Sweep(dir); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for range 300 {
		c := keep(t, dir, self)
		if _, err := os.Stat(c.Path); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

func TestNoExec(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOEXEC, "size=1m"); err != nil {
		t.Skipf("SKIPPED: a noexec file system cannot be mounted here (%v); run as root to test it", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	if _, err := replica.Keep(dir, script(t, "one")); !errors.Is(err, replica.ErrNoExec) {
		t.Errorf("got %v", err)
	}
}

func TestBuildFollowsFromTheContent(t *testing.T) {
	self, err := replica.Self()
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	a, err := replica.Build(self)
	if err != nil || a == "" {
		t.Fatalf("%q, %v", a, err)
	}
	b, err := replica.Build(script(t, "one"))
	if err != nil || b == a || b == "" {
		t.Errorf("%q, %v beside %q", b, err, a)
	}
}
