package e2e

import (
	"os"
	"path/filepath"
	"syscall"
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
