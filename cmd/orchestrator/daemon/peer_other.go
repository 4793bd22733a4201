//go:build !linux && !darwin

package daemon

import "os"

// peer is the process at the other end of a unix connection; a pid of 0 is unknown.
type peer struct{ uid, pid int }

// lookAt relies on the folder's mode on systems where it cannot ask the kernel.
func lookAt(int) (peer, error) { return peer{uid: os.Getuid()}, nil }

// alive cannot tell.
func (p peer) alive() bool { return true }

// release does nothing.
func (p peer) release() {}
