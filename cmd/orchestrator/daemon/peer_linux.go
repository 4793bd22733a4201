package daemon

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// peer is the process at the other end of a unix connection.
type peer struct {
	uid, pid int
	handle   int // pins the process while it is inspected; -1 on kernels before 6.5
}

// lookAt asks the kernel which process is at the other end of a socket.
func lookAt(fd int) (peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return peer{}, fmt.Errorf("get the peer of a connection: %w", err)
	}
	p := peer{uid: int(cred.Uid), pid: int(cred.Pid), handle: -1}
	handle, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	switch {
	case err == nil:
		p.handle = handle
	case !errors.Is(err, unix.ENOPROTOOPT):
		return peer{}, fmt.Errorf("get the peer of a connection: %w", err) // it has already exited
	}
	return p, nil
}

// alive reports whether the process still exists, so that its id was not reused.
func (p peer) alive() bool {
	return p.handle < 0 || unix.PidfdSendSignal(p.handle, 0, nil, 0) == nil
}

// release releases the process.
func (p peer) release() {
	if p.handle >= 0 {
		_ = unix.Close(p.handle) // nothing was written
	}
}
