// Package private keeps files that only this user can access.
//
// The files that it opens are in folders that belong to this user, that nobody else may read or write, and that are
// reached without following a link; the files are regular files of this user, with mode 0600, replaced as a whole and
// synced with their folder. Anything else is refused before a byte of it is read or written. The one path that may
// contain links is the user's own location of a folder, such as ~/.local/state.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"orchestrator/thread/ground/atomicfile"
)

// Folder is an open folder of this user alone. Its content is reached through its handle: a folder that later takes its
// place is not entered.
type Folder struct {
	root *os.Root
	path string
}

// Open opens the folder base/names…; the error is fs.ErrNotExist if it is missing. Only base may contain links.
func Open(base string, names ...string) (*Folder, error) { return descend(base, names, false) }

// Make is Open, but creates missing folders with mode 0700.
func Make(base string, names ...string) (*Folder, error) { return descend(base, names, true) }

func descend(base string, names []string, create bool) (*Folder, error) {
	if !filepath.IsAbs(base) {
		return nil, &Error{Path: base, Err: errors.New("not an absolute path")}
	}
	if create {
		if err := os.MkdirAll(base, 0o700); err != nil {
			return nil, &Error{Path: base, Err: err}
		}
	}
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		return nil, &Error{Path: base, Err: err}
	}
	if err := checkPlace(real); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, &Error{Path: real, Err: err}
	}
	f := &Folder{root: root, path: real}
	for _, name := range names {
		next, err := f.enter(name, create)
		f.Close()
		if err != nil {
			return nil, err
		}
		f = next
	}
	if len(names) == 0 {
		if err := f.check(); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// checkPlace refuses a folder whose content others could replace: it must belong to this user or root, and neither it
// nor a folder above may be world-writable, unless the sticky bit protects files there.
func checkPlace(real string) error {
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return &Error{Path: at, Err: err}
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return notOurs(at, "chmod o-w "+at, "world-writable (%v)", info.Mode())
		}
		if uid, ok := owner(info); at == real && ok && uid != os.Geteuid() && uid != 0 {
			return notOurs(at, "run as that user, or use your own folder", "owned by user %d, not by %d", uid, os.Geteuid())
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func owner(info fs.FileInfo) (int, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// names returns how many names a file has.
func names(info fs.FileInfo) int {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return int(st.Nlink)
}

// Path is the path of the folder, or of something in it.
func (f *Folder) Path(names ...string) string {
	return filepath.Join(append([]string{f.path}, names...)...)
}

// Close closes the handle.
func (f *Folder) Close() error { return f.root.Close() }

// Open opens a subfolder; the error is fs.ErrNotExist if it is missing.
func (f *Folder) Open(name string) (*Folder, error) { return f.enter(name, false) }

// Make opens a subfolder, creating it if it is missing.
func (f *Folder) Make(name string) (*Folder, error) { return f.enter(name, true) }

func (f *Folder) enter(name string, create bool) (*Folder, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if create {
		switch err := f.root.Mkdir(name, 0o700); {
		case err == nil:
			if err := f.Sync(); err != nil {
				return nil, err
			}
		case !errors.Is(err, fs.ErrExist):
			return nil, f.fail(name, err)
		}
	}
	found, err := f.root.Lstat(name)
	if err != nil {
		return nil, f.fail(name, err)
	}
	if !found.IsDir() {
		return nil, notOurs(f.Path(name), "move it away", "expected a folder, found %s", kindOf(found))
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, f.fail(name, err)
	}
	below := &Folder{root: root, path: f.Path(name)}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(found, opened) {
		err = notOurs(below.path, "move it away", "replaced while it was being opened")
	}
	if err == nil {
		err = below.check()
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return below, nil
}

// check refuses a folder of another user, and one that others may write to. One that others may only read is made
// private.
func (f *Folder) check() error {
	self, err := f.root.Open(".")
	if err != nil {
		return f.fail("", err)
	}
	defer self.Close()
	info, err := self.Stat()
	if err != nil {
		return f.fail("", err)
	}
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return notOurs(f.path, "run as that user, or move it away", "owned by user %d, not by %d", uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return notOurs(f.path, "check its content, then run chmod 700 "+f.path, "writable by others (%v)", info.Mode())
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := self.Chmod(0o700); err != nil {
		return f.fail("", err)
	}
	if info, err = self.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		return notOurs(f.path, "use a file system that supports permissions", "readable by others (%v)", info.Mode())
	}
	return err
}

// File opens a file of the folder with O_RDONLY, O_WRONLY or O_RDWR, and O_CREATE, O_EXCL or O_APPEND. It must be a
// regular file of this user; a link or anything else is refused.
func (f *Folder) File(name string, flag int) (*os.File, error) { return f.file(name, flag, false) }

// Sole is File for a folder that others of this user's programs may write to: a file that has another name somewhere is
// refused, before anything of it is changed.
func (f *Folder) Sole(name string, flag int) (*os.File, error) { return f.file(name, flag, true) }

func (f *Folder) file(name string, flag int, sole bool) (*os.File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if flag&os.O_TRUNC != 0 {
		return nil, &Error{Path: f.Path(name), Err: errors.New("O_TRUNC is not allowed: use Write to replace a file")}
	}
	if err := f.Check(name); err != nil {
		return nil, err
	}
	file, err := f.root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, f.fail(name, err)
	}
	opened, err := file.Stat()
	if err == nil {
		err = f.checkFile(name, opened)
	}
	if err == nil {
		var found fs.FileInfo
		if found, err = f.root.Lstat(name); err == nil && !os.SameFile(found, opened) {
			err = notOurs(f.Path(name), "move it away", "replaced while it was being opened")
		}
	}
	if err == nil && sole && names(opened) > 1 {
		err = notOurs(f.Path(name), "copy it instead of linking it", "it has another name elsewhere")
	}
	if err == nil && opened.Mode().Perm()&0o077 != 0 {
		err = file.Chmod(0o600)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Check refuses a path that exists and is not a regular file of this user.
func (f *Folder) Check(names ...string) error {
	for _, name := range names {
		info, err := f.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return f.fail(name, err)
		}
		if err := f.checkFile(name, info); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) checkFile(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return notOurs(f.Path(name), "move it away", "expected a file, found %s", kindOf(info))
	}
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return notOurs(f.Path(name), "run as that user, or move it away", "owned by user %d, not by %d", uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return notOurs(f.Path(name), "check its content, then run chmod 600 "+f.Path(name), "writable by others (%v)",
			info.Mode())
	}
	return nil
}

// Read returns a file of at most limit bytes.
func (f *Folder) Read(name string, limit int64) ([]byte, error) { return f.read(name, limit, false) }

// ReadSole is Read for a file as Sole opens it.
func (f *Folder) ReadSole(name string, limit int64) ([]byte, error) { return f.read(name, limit, true) }

func (f *Folder) read(name string, limit int64, sole bool) ([]byte, error) {
	file, err := f.file(name, os.O_RDONLY, sole)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, f.Path(name), limit)
}

// Write replaces a file: after a crash it has either the old content or the new one.
func (f *Folder) Write(name string, content []byte) error {
	if err := f.Check(name); err != nil {
		return err
	}
	if err := atomicfile.Below(f.root, name, content, 0o600, true); err != nil {
		return f.fail(name, err)
	}
	return nil
}

// Create creates a file with this content and syncs it; the error is fs.ErrExist if it already exists. A file that
// could not be written completely is removed.
func (f *Folder) Create(name string, content []byte) error {
	file, err := f.File(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		f.root.Remove(name)
		return f.fail(name, err)
	}
	return f.Sync()
}

// Rename renames a file of the folder; the new name must not exist.
func (f *Folder) Rename(name, other string) error {
	if err := errors.Join(checkName(name), checkName(other)); err != nil {
		return err
	}
	if _, err := f.root.Lstat(other); !errors.Is(err, fs.ErrNotExist) {
		return f.fail(other, fs.ErrExist)
	}
	if err := f.root.Rename(name, other); err != nil {
		return f.fail(name, err)
	}
	return f.Sync()
}

// Replace renames a file of the folder to the name of one that may exist, without making that durable.
func (f *Folder) Replace(name, other string) error {
	if err := errors.Join(checkName(name), checkName(other), f.Check(other)); err != nil {
		return err
	}
	if err := f.root.Rename(name, other); err != nil {
		return f.fail(other, err)
	}
	return nil
}

// Remove removes a file, a link itself, or an empty folder.
func (f *Folder) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := f.root.Remove(name); err != nil {
		return f.fail(name, err)
	}
	return f.Sync()
}

// RemoveAll removes a path with everything below it; it follows no link out of the folder.
func (f *Folder) RemoveAll(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := f.root.RemoveAll(name); err != nil {
		return f.fail(name, err)
	}
	return f.Sync()
}

// List returns the entries of the folder, sorted.
func (f *Folder) List() ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return nil, f.fail("", err)
	}
	return list, nil
}

// ListSome is List for at most so many entries, unsorted; the error is ErrTooLarge if there are more.
func (f *Folder) ListSome(most int) ([]fs.DirEntry, error) {
	self, err := f.root.Open(".")
	if err != nil {
		return nil, f.fail("", err)
	}
	defer self.Close()
	list, err := self.ReadDir(most + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, f.fail("", err)
	case len(list) > most:
		return list[:most], &Error{Path: f.path, Err: fmt.Errorf("%w: more than %d files", ErrTooLarge, most)}
	default:
		return list, nil
	}
}

// Sync makes the names in the folder durable.
func (f *Folder) Sync() error {
	self, err := f.root.Open(".")
	if err != nil {
		return f.fail("", err)
	}
	defer self.Close()
	// Some file systems cannot sync a folder, and need not.
	if err := self.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return f.fail("", err)
	}
	return nil
}

func (f *Folder) fail(name string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // its path is relative to a handle
	}
	return &Error{Path: f.Path(name), Err: err}
}

// checkName refuses a name that is not a single path element.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return &Error{Path: fmt.Sprintf("%q", name), Err: errors.New("not a name in a folder")}
	}
	return nil
}
