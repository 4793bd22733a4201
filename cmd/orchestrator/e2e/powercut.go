package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// KillAll ends, at once, every process whose home is the rig's.
func (r *Rig) KillAll() {
	r.T.Helper()
	mark := []byte("HOME=" + r.Home + "\x00")
	Await(r.T, "all processes to be gone", func() bool {
		procs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			r.T.Fatal(err)
		}
		n := 0
		for _, file := range procs {
			env, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(append(env, 0), mark) {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			_ = syscall.Kill(pid, syscall.SIGKILL)
			n++
		}
		return n == 0
	})
}
