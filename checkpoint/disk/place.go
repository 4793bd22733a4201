package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Place writes below one folder: through no symbolic link, not even one that stays inside, and nowhere outside.
type Place struct {
	root *os.Root
	// last is the folder that the last call worked in: calls are sorted, so it is usually the next one's too.
	last    *os.Root
	lastDir string
}

// ErrInTheWay means that something which is not a folder is where a folder is needed.
var ErrInTheWay = errors.New("something else is in the way")

// OpenPlace opens a folder as a Place.
func OpenPlace(dir string) (*Place, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Place{root: root}, nil
}

// Close closes the folder.
func (p *Place) Close() {
	p.forget()
	_ = p.root.Close()
}

func (p *Place) forget() {
	if p.last != nil {
		_ = p.last.Close()
	}
	p.last, p.lastDir = nil, ""
}

// folder opens the folder that contains a path, creating it if build is set. The result belongs to the place.
func (p *Place) folder(name string, build bool) (*os.Root, error) {
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

// step opens one folder and makes sure that it is the folder itself and not the target of a link.
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
		return nil, ErrInTheWay
	}
	return enter(at, name, info)
}

// enter opens a folder that was seen to be one, and makes sure that it is still the same.
func enter(at *os.Root, name string, seen fs.FileInfo) (*os.Root, error) {
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	got, err := next.Stat(".")
	if err == nil && !os.SameFile(seen, got) {
		err = ErrInTheWay // it was replaced by a link
	}
	if err != nil {
		_ = next.Close()
		return nil, err
	}
	return next, nil
}

// Lstat describes a path itself; fs.ErrNotExist also if a parent is not a folder.
func (p *Place) Lstat(name string) (fs.FileInfo, error) {
	dir, err := p.folder(name, false)
	if errors.Is(err, ErrInTheWay) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return dir.Lstat(path.Base(name))
}

// Remove removes a file, a link, or an empty folder.
func (p *Place) Remove(name string) error {
	dir, err := p.folder(name, false)
	if err != nil {
		return err
	}
	if p.lastDir == name || strings.HasPrefix(p.lastDir, name+"/") {
		p.forget()
	}
	return dir.Remove(path.Base(name))
}

// temporary is the prefix of incomplete files.
const temporary = ".orchestrator-new-"

// PutFile puts a regular file in place atomically. It keeps the permission bits of old, if there is one.
func (p *Place) PutFile(name string, content io.Reader, exec bool, old fs.FileInfo) error {
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

// permLike sets or clears the executable bits of a mode, for those who may read.
func permLike(old fs.FileMode, exec bool) fs.FileMode {
	old &^= 0o111
	if exec {
		old |= (old & 0o444) >> 2
	}
	return old
}

// PutLink puts a symbolic link in place atomically.
func (p *Place) PutLink(name, target string) error {
	return p.put(name, func(dir *os.Root, tmp string) error { return dir.Symlink(target, tmp) })
}

func (p *Place) put(name string, make func(dir *os.Root, tmp string) error) error {
	dir, err := p.folder(name, true)
	if err != nil {
		return err
	}
	tmp := temporary + Short(name)
	if err := dir.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // left by a crash
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

// Mkdir creates a folder, in place of a submodule.
func (p *Place) Mkdir(name string) error {
	dir, err := p.folder(name, true)
	if err != nil {
		return err
	}
	if err := dir.Mkdir(path.Base(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Open opens a regular file for reading: the path itself, not the target of a link, and without blocking at a pipe.
func (p *Place) Open(name string) (*os.File, error) {
	dir, err := p.folder(name, false)
	if err != nil {
		return nil, err
	}
	return dir.OpenFile(path.Base(name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}
