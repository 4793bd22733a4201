package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"orchestrator/thread"
)

// place writes below one folder: through no symbolic link, not even one that stays inside, and nowhere outside.
type place struct {
	root *os.Root
	// last is the folder that the last call worked in: calls come sorted, so it is mostly the next one's too.
	last    *os.Root
	lastDir string
}

// errInTheWay says that something which is not a folder stands where a folder is needed.
var errInTheWay = errors.New("something else is in the way")

func openPlace(dir string) (*place, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &place{root: root}, nil
}

func (p *place) close() {
	p.forget()
	_ = p.root.Close()
}

func (p *place) forget() {
	if p.last != nil {
		_ = p.last.Close()
	}
	p.last, p.lastDir = nil, ""
}

// folder opens the folder that holds a path, making it when build is set. The result belongs to the place.
func (p *place) folder(name string, build bool) (*os.Root, error) {
	dir := path.Dir(name)
	if dir == "." {
		return p.root, nil
	}
	if p.last != nil && dir == p.lastDir {
		return p.last, nil
	}
	p.forget()
	at := p.root
	for part := range strings.SplitSeq(dir, "/") {
		next, err := step(at, part, build)
		if at != p.root {
			_ = at.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("open folder %s: %w", dir, err)
		}
		at = next
	}
	p.last, p.lastDir = at, dir
	return at, nil
}

// step opens one folder and makes sure that it is the folder itself and not where a link leads.
func step(at *os.Root, name string, build bool) (*os.Root, error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && build {
		if err := at.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = at.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errInTheWay
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	got, err := next.Stat(".")
	if err == nil && !os.SameFile(info, got) {
		err = errInTheWay // it was swapped for a link
	}
	if err != nil {
		_ = next.Close()
		return nil, err
	}
	return next, nil
}

// lstat describes a path itself; fs.ErrNotExist also when a parent is no folder.
func (p *place) lstat(name string) (fs.FileInfo, error) {
	dir, err := p.folder(name, false)
	if errors.Is(err, errInTheWay) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return dir.Lstat(path.Base(name))
}

// remove removes a file, a link, or an empty folder.
func (p *place) remove(name string) error {
	dir, err := p.folder(name, false)
	if err != nil {
		return err
	}
	if p.lastDir == name || strings.HasPrefix(p.lastDir, name+"/") {
		p.forget()
	}
	return dir.Remove(path.Base(name))
}

// temporary is how files begin that are not whole yet.
const temporary = ".orchestrator-new-"

// file puts a regular file in place at once. It keeps the permission bits of old, when there is one.
func (p *place) file(name string, content io.Reader, exec bool, old fs.FileInfo) error {
	return p.put(name, func(dir *os.Root, tmp string) error {
		perm := fs.FileMode(0o666)
		if exec {
			perm = 0o777
		}
		f, err := dir.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		if err == nil && old != nil && old.Mode().IsRegular() {
			err = f.Chmod(permLike(old.Mode().Perm(), exec))
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		return err
	})
}

// permLike sets or clears the executable bits of a mode, for whoever may read.
func permLike(old fs.FileMode, exec bool) fs.FileMode {
	old &^= 0o111
	if exec {
		old |= (old & 0o444) >> 2
	}
	return old
}

// link puts a symbolic link in place at once.
func (p *place) link(name, target string) error {
	return p.put(name, func(dir *os.Root, tmp string) error { return dir.Symlink(target, tmp) })
}

func (p *place) put(name string, make func(dir *os.Root, tmp string) error) error {
	dir, err := p.folder(name, true)
	if err != nil {
		return err
	}
	tmp := temporary + short(name)
	if err := dir.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // one that a crash left
	}
	if err := make(dir, tmp); err != nil {
		_ = dir.Remove(tmp)
		return err
	}
	if err := dir.Rename(tmp, path.Base(name)); err != nil {
		_ = dir.Remove(tmp)
		return err
	}
	return nil
}

// mkdir makes a folder, for a submodule's place.
func (p *place) mkdir(name string) error {
	dir, err := p.folder(name, true)
	if err != nil {
		return err
	}
	if err := dir.Mkdir(path.Base(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// noFollow opens what lies there itself, and does not wait for a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// removeIn removes what has a name in a folder, with all below it. It reaches neither the folder nor anything in it
// through a link: of a link it removes the link.
func removeIn(dir, name string) error {
	if !plainName(name) {
		return fmt.Errorf("remove %q: %w", name, thread.ErrInvalid)
	}
	at, err := openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.Close()
	if err = at.RemoveAll(name); errors.Is(err, fs.ErrPermission) { // an agent took away the right to
		_ = fs.WalkDir(at.FS(), filepath.ToSlash(name), func(path string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = at.Chmod(path, 0o700)
			}
			return nil
		})
		err = at.RemoveAll(name)
	}
	return err
}

// openFolder opens a folder that is no link itself.
func openFolder(dir string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return step(parent, filepath.Base(dir), false)
}

// sizeIn counts the bytes of the files below a name in a folder, through no link; it is a courtesy and never fails.
func sizeIn(dir, name string) (size int64) {
	at, err := openFolder(dir)
	if err != nil {
		return 0
	}
	defer at.Close()
	_ = fs.WalkDir(at.FS(), name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}
