//go:build !linux && !darwin

package daemon

import "os"

// peer is the process at the other end of a unix connection; a pid of 0 is not known.
type peer struct{ uid, pid int }

// lookAt trusts the folder's mode where the kernel is not asked.
func lookAt(int) (peer, error) { return peer{uid: os.Getuid()}, nil }

// alive knows no better.
func (p peer) alive() bool { return true }

// release has nothing to give up.
func (p peer) release() {}
