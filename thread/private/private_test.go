package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// place is a folder of this user alone for a test.
func place(t *testing.T) *Folder {
	t.Helper()
	f, err := Make(t.TempDir(), "ours")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestMadeFoldersAndFilesAreOursAlone(t *testing.T) {
	dir := t.TempDir()
	defer syscall.Umask(syscall.Umask(0))
	base := filepath.Join(dir, "home", "state")
	f, err := Make(base, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Write("x", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := f.Create("y", []byte("two")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"": 0o700, "..": 0o700, "../..": 0o700, "x": 0o600, "y": 0o600} {
		info, err := os.Lstat(filepath.Join(f.Path(), name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q is %v %v, want %v", name, info.Mode(), err, want)
		}
	}
	if err := f.Create("x", nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made over a file: %v", err)
	}
	if got, err := f.Read("x", 3); err != nil || string(got) != "one" {
		t.Errorf("read %q %v", got, err)
	}
	if _, err := f.Read("x", 2); !errors.Is(err, ErrTooLarge) {
		t.Errorf("read of more than the limit: %v", err)
	}
	if _, err := Open(base, "a", "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}

// TestNothingElseIsOpened plants everything that is no file or folder of ours at the names that we open.
func TestNothingElseIsOpened(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	plants := map[string]func(path string) error{
		"link to a file":  func(p string) error { return os.Symlink(victim, p) },
		"link inside":     func(p string) error { return os.Symlink("real", p) },
		"dangling link":   func(p string) error { return os.Symlink(victim+"-none", p) },
		"link to a dir":   func(p string) error { return os.Symlink(filepath.Dir(victim), p) },
		"link to itself":  func(p string) error { return os.Symlink(filepath.Base(p), p) },
		"link to /dev":    func(p string) error { return os.Symlink("/dev/zero", p) },
		"pipe":            func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"file of all":     func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Chmod(p, 0o666)) },
		"folder for all":  func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o777)) },
		"folder of group": func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o770)) },
	}
	for what, plant := range plants {
		t.Run(what, func(t *testing.T) {
			if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			f := place(t)
			if err := os.WriteFile(f.Path("real"), []byte("real"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := plant(f.Path("it")); err != nil {
				t.Fatal(err)
			}
			for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_APPEND} {
				if file, err := f.File("it", flag); err == nil {
					file.Close()
					t.Errorf("opened as a file with %o", flag)
				}
			}
			if err := f.Write("it", []byte("new")); err == nil {
				t.Error("written")
			}
			if err := f.Check("it"); !errors.Is(err, ErrNotOurs) {
				t.Errorf("the check says %v", err)
			}
			for _, enter := range []func(string) (*Folder, error){f.Open, f.Make} {
				if below, err := enter("it"); err == nil {
					below.Close()
					t.Error("entered")
				}
			}
			if b, err := os.ReadFile(victim); err != nil || string(b) != "precious" {
				t.Errorf("the victim is %q %v", b, err)
			}
			if _, err := os.Lstat(victim + "-none"); err == nil {
				t.Error("a file was made through a link")
			}
			if b, err := os.ReadFile(f.Path("real")); err != nil || string(b) != "real" {
				t.Errorf("what a link leads to is %q %v", b, err)
			}
		})
	}
}

func TestForeignOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can give files to another user")
	}
	f := place(t)
	if err := errors.Join(os.Mkdir(f.Path("dir"), 0o700), os.WriteFile(f.Path("file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dir", "file"} {
		if err := os.Lchown(f.Path(name), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Open("dir"); !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), "12345") {
		t.Errorf("a folder of another user: %v", err)
	}
	if _, err := f.File("file", os.O_RDWR); !errors.Is(err, ErrNotOurs) {
		t.Errorf("a file of another user: %v", err)
	}
	if err := os.Lchown(f.Path(), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(f.Path(), "x"); !errors.Is(err, ErrNotOurs) {
		t.Errorf("a place of another user: %v", err)
	}
}

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(open, "x"); !errors.Is(err, ErrNotOurs) {
		t.Errorf("a place that everybody may write: %v", err)
	}
	if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	f, err := Make(open, "x")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Symlink(open, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if f, err = Make(filepath.Join(dir, "link"), "x"); err != nil {
		t.Fatal("the person's own place may be a link: ", err)
	}
	defer f.Close()
	if err := os.Chmod(f.Path(), 0o755); err != nil {
		t.Fatal(err)
	}
	again, err := Open(open, "x")
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if info, err := os.Stat(f.Path()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a folder that others may read stays %v %v", info.Mode(), err)
	}
	if _, err := Make("relative"); err == nil {
		t.Error("a relative place was taken")
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x", "/etc"} {
		if _, err := f.Make(name); err == nil {
			t.Errorf("entered %q", name)
		}
		if _, err := f.File(name, os.O_RDONLY); err == nil {
			t.Errorf("opened %q", name)
		}
		if err := f.RemoveAll(name); err == nil {
			t.Errorf("removed %q", name)
		}
	}
}

// TestExchangedFolder: an open folder stays the one that was checked.
func TestExchangedFolder(t *testing.T) {
	f := place(t)
	other := t.TempDir()
	if err := errors.Join(os.Rename(f.Path(), f.Path()+"-away"), os.Symlink(other, f.Path())); err != nil {
		t.Fatal(err)
	}
	if err := f.Write("x", []byte("y")); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(other); err != nil || len(list) != 0 {
		t.Errorf("written into the folder of a link: %v %v", list, err)
	}
}

func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadRegular(file, 7); err != nil || string(got) != "content" {
		t.Errorf("read %q %v", got, err)
	}
	if _, err := ReadRegular(file, 6); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file that is too large: %v", err)
	}
	if _, err := ReadRegular(file+"-none", 6); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.Symlink("file", link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, pipe, dir, "/dev/zero"} {
		if _, err := ReadRegular(path, 1<<20); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
