package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// StateDisk gives the rig's state folder a small file system of its own, which takes root.
func (r *Rig) StateDisk(flags uintptr) (dir string) {
	r.T.Helper()
	dir = r.Claimed().StateDir()
	record, err := os.ReadFile(filepath.Join(dir, "project.json"))
	if err != nil {
		r.T.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		r.T.Skipf("SKIPPED: it needs a small file system of its own, and mounting one is not allowed (%v); as root `go test -run %s ./cmd/orchestrator/e2e/...` runs it", err, r.T.Name())
	}
	r.T.Cleanup(func() {
		r.Run("stop", "--force")
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			r.T.Error(err)
		}
	})
	Put(r.T, filepath.Join(dir, "project.json"), string(record))
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, "size=8m,mode=0700"); err != nil {
		r.T.Fatal(err)
	}
	return dir
}

// Fill leaves no room on the disk of a folder. What it returns frees it again.
func (r *Rig) Fill(dir string) (free func()) {
	r.T.Helper()
	f, err := os.CreateTemp(dir, "filler-")
	if err != nil {
		r.T.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0 && err == nil; size /= 2 {
		for err == nil {
			_, err = f.Write(make([]byte, size))
		}
		if errors.Is(err, syscall.ENOSPC) && size > 1 {
			err = nil
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		r.T.Fatalf("filled the disk: %v", err)
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			r.T.Error(err)
		}
	}
}

// Cram fills a disk, again and again until nothing is freed any more: a server at rest may fold its logs.
func (r *Rig) Cram(dir string) (free func()) {
	r.T.Helper()
	var all []func()
	for range 4 {
		all = append(all, r.Fill(dir))
		time.Sleep(30 * time.Millisecond) // what is written meanwhile has its place
	}
	return func() {
		for _, free := range all {
			free()
		}
	}
}
