package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlaceFollowsNoLink swaps a folder for a link while files are written below it, over and over: not one byte
// may come to where the link leads, inside the worktree or outside.
func TestPlaceFollowsNoLink(t *testing.T) {
	top := t.TempDir()
	root, outside := filepath.Join(top, "root"), filepath.Join(top, "outside")
	for _, dir := range []string{filepath.Join(root, "inside"), filepath.Join(root, "d"), outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out": outside, "in": "inside", "chain": "out"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := OpenPlace(root)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, name := range []string{"out/f", "in/f", "chain/f", "out/deep/f"} {
		if err := p.PutFile(name, strings.NewReader("x"), false, nil); !errors.Is(err, ErrInTheWay) {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Remove(name); err == nil {
			t.Errorf("removed %s", name)
		}
	}
	for _, name := range []string{"../x", "d/../../x", "/etc/x"} {
		if err := p.PutFile(name, strings.NewReader("x"), false, nil); err == nil {
			t.Errorf("wrote %s", name)
		}
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		for {
			for _, target := range []string{outside, "inside"} { // a root alone keeps to itself, and follows what stays inside
				_ = os.Rename(filepath.Join(root, "d"), filepath.Join(root, "aside"))
				_ = os.Symlink(target, filepath.Join(root, "d"))
				_ = os.Remove(filepath.Join(root, "d"))
				_ = os.Rename(filepath.Join(root, "aside"), filepath.Join(root, "d"))
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	wrote := 0
	for range 1000 {
		p.forget() // look at the folder again each time
		if p.PutFile("d/f", strings.NewReader("x"), false, nil) == nil {
			wrote++
		}
	}
	close(stop)
	<-done
	t.Logf("%d of 1000 writes went through", wrote)
	for _, dir := range []string{outside, filepath.Join(root, "inside")} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("written through a link into %s: %v %v", dir, entries, err)
		}
	}
}

// TestASwappedFolderIsNotEntered swaps a folder for a link that stays inside, after the folder was seen.
func TestASwappedFolderIsNotEntered(t *testing.T) {
	top := t.TempDir()
	for _, name := range []string{"d", "inside"} {
		if err := os.Mkdir(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	seen, err := root.Lstat("d")
	if err == nil {
		err = errors.Join(root.Rename("d", "aside"), root.Symlink("inside", "d"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if next, err := enter(root, "d", seen); !errors.Is(err, ErrInTheWay) {
		t.Errorf("entered %v, %v", next, err)
	}
}
