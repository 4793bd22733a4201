package frozen_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"orchestrator/thread/frozen"
	"orchestrator/thread/frozen/frozentest"
)

// rig is a repository, another folder, and a store.
type rig struct {
	*testing.T
	repo, outside, state string
	store                *frozen.Store
}

func newRig(t *testing.T) *rig {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, repo: filepath.Join(top, "repo"), outside: filepath.Join(top, "outside"), state: filepath.Join(top, "state")}
	for _, dir := range []string{r.repo, r.outside, r.state} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.open()
	return r
}

func (r *rig) open() {
	r.Helper()
	store, err := frozen.Open(r.state, "accepted")
	if err != nil {
		r.Fatal(err)
	}
	r.store = store
	frozentest.Removable(r, r.state)
	r.Cleanup(func() {
		if err := store.Close(); err != nil {
			r.Error(err)
		}
	})
}

func (r *rig) put(path, content string) {
	r.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) link(path, to string) {
	r.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(to, path)); err != nil {
		r.Fatal(err)
	}
}

// collect collects paths of the repository.
func (r *rig) collect(names ...string) (*frozen.Collector, error) {
	c := frozen.NewCollector(r.repo, []string{r.repo, r.outside}, nil)
	var err error
	for _, name := range names {
		err = errors.Join(err, c.Add(filepath.Join(r.repo, name)))
	}
	return c, err
}

func (r *rig) keep(names ...string) (top string, entries []frozen.Entry) {
	r.Helper()
	c, err := r.collect(names...)
	if err != nil {
		r.Fatal(err)
	}
	entries = c.Entries()
	if top, err = r.store.Keep(entries); err != nil {
		r.Fatal(err)
	}
	return top, entries
}

// list is what is in a copy: paths, with what links contain.
func (r *rig) list(top string) (all []string) {
	r.Helper()
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if to, linkErr := os.Readlink(path); linkErr == nil {
			rel += " → " + strings.ReplaceAll(to, filepath.Dir(r.repo), "TOP")
		}
		all = append(all, rel)
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return all
}

func (r *rig) read(path string) string {
	r.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

// TestLayout: files lie to each other as in the repository, links lead to what they led to, and what others may write
// outside of the repository is copied in their place.
func TestLayout(t *testing.T) {
	r := newRig(t)
	r.put(filepath.Join(r.repo, "tools/srv.py"), "one")
	r.put(filepath.Join(r.repo, "tools/deep/er/data"), "two")
	r.put(filepath.Join(r.repo, "tools/.git/config"), "git's")
	r.put(filepath.Join(r.repo, "tools/__pycache__/srv.pyc"), "made")
	r.put(filepath.Join(r.repo, "lib/word.py"), "three")
	r.put(filepath.Join(r.repo, "other/file"), "not named")
	r.put(filepath.Join(r.outside, "shared/x"), "four")
	r.put(filepath.Join(r.outside, "one"), "five")
	if err := os.Chmod(filepath.Join(r.repo, "tools/srv.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"tools/lib": "../lib", "tools/abs": filepath.Join(r.repo, "lib/word.py"), "tools/shared": filepath.Join(r.outside, "shared"),
		"tools/one": "../../outside/one", "tools/sh": "/bin/sh", "tools/gone": "nowhere", "tools/loop": ".", "tools/up": "..",
		"tools/a": "b", "tools/b": "a", "tools/later": filepath.Join(r.outside, "later"),
	} {
		r.link(filepath.Join(r.repo, name), to)
	}
	if err := syscall.Mkfifo(filepath.Join(r.repo, "tools/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	top, entries := r.keep("tools")
	want := []string{
		"lib/word.py", "tools/a → b", "tools/abs → ../lib/word.py", "tools/b → a", "tools/deep/er/data", "tools/gone → nowhere", "tools/lib → ../lib",
		"tools/one", "tools/sh → /bin/sh", "tools/shared/x", "tools/srv.py",
	}
	got := r.list(top)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the copy holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name, content := range map[string]string{"tools/srv.py": "one", "tools/lib/word.py": "three", "tools/abs": "three", "tools/shared/x": "four", "tools/one": "five"} {
		if text := r.read(filepath.Join(top, name)); text != content {
			t.Errorf("%s is %q", name, text)
		}
	}
	for name, mode := range map[string]fs.FileMode{"tools/srv.py": 0o500, "lib/word.py": 0o400, "tools": 0o500, "": 0o500} {
		if info, err := os.Stat(filepath.Join(top, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q: %v %v, want %v", name, info.Mode(), err, mode)
		}
	}
	// The same content has the same copy; any other has another.
	if again, _ := r.keep("tools"); again != top {
		t.Errorf("another copy of the same: %s", again)
	}
	for what, change := range map[string]func() error{
		"content": func() error { return os.WriteFile(filepath.Join(r.repo, "lib/word.py"), []byte("THREE"), 0o600) },
		"program": func() error { return os.Chmod(filepath.Join(r.repo, "lib/word.py"), 0o700) },
		"link": func() error {
			return errors.Join(os.Remove(filepath.Join(r.repo, "tools/a")), os.Symlink("srv.py", filepath.Join(r.repo, "tools/a")))
		},
		"more": func() error { return os.WriteFile(filepath.Join(r.repo, "tools/more"), nil, 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		c, err := r.collect("tools")
		if err != nil {
			t.Fatal(err)
		}
		if frozen.Hash(c.Entries()) == frozen.Hash(entries) {
			t.Errorf("%s changed, and the hash did not", what)
		}
		entries = c.Entries()
	}
}

// TestExchanged: what is exchanged between the look and the copy is never in a copy, whatever it is exchanged with.
func TestExchanged(t *testing.T) {
	for name, exchange := range map[string]func(path, outside string) error{
		"content":          func(path, _ string) error { return os.WriteFile(path, []byte("EVIL"), 0o600) },
		"longer":           func(path, _ string) error { return os.WriteFile(path, []byte("good and more"), 0o600) },
		"shorter":          func(path, _ string) error { return os.WriteFile(path, nil, 0o600) },
		"gone":             func(path, _ string) error { return os.Remove(path) },
		"link":             func(path, outside string) error { return errors.Join(os.Remove(path), os.Symlink(outside, path)) },
		"link to the same": func(path, _ string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) },
		"hard link":        func(path, outside string) error { return errors.Join(os.Remove(path), os.Link(outside, path)) },
		"fifo":             func(path, _ string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"folder":           func(path, _ string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"folder above": func(path, outside string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.Symlink(filepath.Dir(outside), filepath.Dir(path)))
		},
		"3 GB, sparse": func(path, _ string) error { return os.Truncate(path, 3<<30) },
		"device":       func(path, _ string) error { return errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			path := filepath.Join(r.repo, "tools/word")
			r.put(path, "good")
			r.put(filepath.Join(r.outside, "word"), "EVIL")
			c, err := r.collect("tools")
			if err != nil {
				t.Fatal(err)
			}
			if err := exchange(path, filepath.Join(r.outside, "word")); err != nil {
				t.Fatal(err)
			}
			top, err := r.store.Keep(c.Entries())
			if err == nil {
				t.Fatalf("there is a copy with %q", r.read(filepath.Join(top, "tools/word")))
			}
			if !errors.Is(err, frozen.ErrChanged) {
				t.Errorf("%v is not ErrChanged", err)
			}
			if left, err := os.ReadDir(filepath.Join(r.state, "accepted")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// TestHardLink: a file that was copied is its own, also if it has a second name that somebody writes to.
func TestHardLink(t *testing.T) {
	r := newRig(t)
	r.put(filepath.Join(r.outside, "word"), "good")
	if err := os.Link(filepath.Join(r.outside, "word"), filepath.Join(r.repo, "word")); err != nil {
		t.Fatal(err)
	}
	top, _ := r.keep("word")
	r.put(filepath.Join(r.outside, "word"), "EVIL")
	if got := r.read(filepath.Join(top, "word")); got != "good" {
		t.Errorf("the copy holds %q", got)
	}
}

// TestExchangedWhileCopied exchanges all the time while copies are made: each one that there is holds what its entries say.
func TestExchangedWhileCopied(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(r.repo, "word")
	r.put(path, strings.Repeat("good", 1000))
	r.put(filepath.Join(r.repo, "large"), strings.Repeat("large", 200_000)) // so that a copy takes its time
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			content := strings.Repeat([]string{"good", "EVIL"}[n%2], 1000)
			if n%3 == 0 {
				_ = os.WriteFile(path, []byte(content), 0o600)
				continue
			}
			_ = os.WriteFile(path+".new", []byte(content), 0o600)
			_ = os.Rename(path+".new", path)
		}
	})
	kept, refused := 0, 0
	for n := 0; n < 200 || kept == 0 && n < 5000; n++ {
		c, err := r.collect("large", "word")
		if err != nil {
			t.Fatal(err)
		}
		entries := c.Entries()
		top, err := r.store.Keep(entries)
		if err != nil {
			refused++
			continue
		}
		kept++
		made := frozen.NewCollector(top, nil, nil)
		if err := made.Add(top); err != nil {
			t.Fatal(err)
		}
		if frozen.Hash(made.Entries()) != frozen.Hash(entries) {
			t.Fatal("a copy holds something else than its entries say")
		}
	}
	close(stop)
	work.Wait()
	t.Logf("%d copies, %d refused", kept, refused)
	if kept == 0 {
		t.Error("there was no copy")
	}
}

// TestDamagedCopy: a copy that is not whole, or holds more, is made again and never used.
func TestDamagedCopy(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"content": func(path string) error {
			return errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("EVIL"), 0o600), os.Chmod(path, 0o400))
		},
		"gone":   func(path string) error { return os.Remove(path) },
		"more":   func(path string) error { return os.WriteFile(path+"2", nil, 0o600) },
		"link":   func(path string) error { return errors.Join(os.Remove(path), os.Symlink("/etc/hostname", path)) },
		"fifo":   func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o400)) },
		"folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o500)) },
		"mode":   func(path string) error { return os.Chmod(path, 0o600) },
		"all of it": func(path string) error {
			return errors.Join(os.Chmod(filepath.Dir(filepath.Dir(path)), 0o700), os.RemoveAll(filepath.Dir(path)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put(filepath.Join(r.repo, "a/word"), "good")
			top, entries := r.keep("a")
			path := filepath.Join(top, "a/word")
			if err := errors.Join(os.Chmod(filepath.Dir(path), 0o700), damage(path)); err != nil {
				t.Fatal(err)
			}
			again, err := r.store.Keep(entries)
			if err != nil || again != top {
				t.Fatal(again, err)
			}
			if got := r.list(top); !slices.Equal(got, []string{"a/word"}) || r.read(path) != "good" {
				t.Errorf("it holds %v", got)
			}
		})
	}
}

// TestBounds: what is too large or too much is refused before it is read or written, and quickly.
func TestBounds(t *testing.T) {
	t.Run("3 GB, sparse", func(t *testing.T) {
		r := newRig(t)
		r.put(filepath.Join(r.repo, "a/huge"), "")
		if err := os.Truncate(filepath.Join(r.repo, "a/huge"), 3<<30); err != nil {
			t.Skipf("SKIPPED: this file system does not make such a file: %v", err)
		}
		if _, err := r.collect("a"); !errors.Is(err, frozen.ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("10,000 files", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		for n := range 10_000 {
			if n%100 == 0 {
				r.put(filepath.Join(r.repo, fmt.Sprintf("many/%d/first", n/100)), "first")
			}
			if err := os.WriteFile(filepath.Join(r.repo, fmt.Sprintf("many/%d/%d", n/100, n)), []byte{byte(n)}, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		top, entries := r.keep("many")
		if len(entries) != 10_100 || len(r.list(top)) != 10_100 {
			t.Errorf("%d entries", len(entries))
		}
	})
	t.Run("too many", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		if err := os.MkdirAll(filepath.Join(r.repo, "many"), 0o700); err != nil {
			t.Fatal(err)
		}
		for n := range frozen.MaxEntries + 1 { // links cost the least
			if err := os.Symlink("x", filepath.Join(r.repo, "many", fmt.Sprint(n))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.collect("many"); !errors.Is(err, frozen.ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		r := newRig(t)
		top, entries := r.keep("gone")
		if len(entries) != 0 || len(r.list(top)) != 0 {
			t.Errorf("%v", entries)
		}
	})
	t.Run("unreadable", func(t *testing.T) {
		r := newRig(t)
		r.put(filepath.Join(r.repo, "a/word"), "good")
		if err := os.Chmod(filepath.Join(r.repo, "a/word"), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile(filepath.Join(r.repo, "a/word")); err == nil {
			t.Skip("SKIPPED: root reads everything; go test ./thread/frozen as another user runs it")
		}
		if _, err := r.collect("a"); !errors.Is(err, fs.ErrPermission) {
			t.Error(err)
		}
	})
	t.Run("elsewhere", func(t *testing.T) {
		r := newRig(t)
		c := frozen.NewCollector(r.repo, nil, nil)
		if err := c.Add(filepath.Join(r.outside, "word")); err == nil {
			t.Error("a file of another folder is collected")
		}
	})
}

// TestTwoAtOnce: many ask for the same copy and for others at once.
func TestTwoAtOnce(t *testing.T) {
	r := newRig(t)
	var work sync.WaitGroup
	for n := range 4 {
		r.put(filepath.Join(r.repo, fmt.Sprint("f", n)), fmt.Sprint("f", n))
	}
	for n := range 20 {
		name := fmt.Sprint("f", n%4)
		work.Go(func() {
			c, err := r.collect(name)
			if err != nil {
				t.Error(err)
				return
			}
			top, err := r.store.Keep(c.Entries())
			if err != nil {
				t.Error(err)
				return
			}
			if b, err := os.ReadFile(filepath.Join(top, name)); err != nil || string(b) != name {
				t.Errorf("%s: %q %v", name, b, err)
			}
		})
	}
	work.Wait()
}

// TestOldCopies: copies that were not used for long, and those that were not completed, are removed with the next opening;
// the newest stay.
func TestOldCopies(t *testing.T) {
	r := newRig(t)
	var tops []string
	for n := range 45 {
		r.put(filepath.Join(r.repo, "a/word"), fmt.Sprint(n))
		top, _ := r.keep("a")
		tops = append(tops, top)
	}
	r.put(filepath.Join(r.state, "accepted/new-XYZ/a/word"), "half")
	if err := os.Chmod(filepath.Join(r.state, "accepted/new-XYZ/a"), 0o500); err != nil {
		t.Fatal(err)
	}
	r.open()
	left, err := os.ReadDir(filepath.Join(r.state, "accepted"))
	if err != nil || len(left) != 40 {
		t.Errorf("%d are left, %v", len(left), err)
	}
	if _, err := os.Stat(tops[len(tops)-1]); err != nil {
		t.Error(err)
	}
}
