package thread_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"orchestrator/thread"
)

// TestIsDiskFull: a full disk is one, whether somebody has translated the system's error or not.
func TestIsDiskFull(t *testing.T) {
	for _, err := range []error{
		thread.ErrDiskFull, syscall.ENOSPC, syscall.EDQUOT, fmt.Errorf("write launch file: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}),
	} {
		if !thread.IsDiskFull(err) {
			t.Error(err)
		}
	}
	for _, err := range []error{nil, syscall.EACCES, errors.New("no space left on device")} {
		if thread.IsDiskFull(err) {
			t.Error(err)
		}
	}
}
