package daemon

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peer returns the user at the other end of a unix connection.
func peer(c net.Conn) (uid int, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return -1, fmt.Errorf("not a unix connection: %T", c)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("look at the connection: %w", err)
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return -1, fmt.Errorf("look at the connection: %w", err)
	}
	if credErr != nil {
		return -1, fmt.Errorf("ask who connects: %w", credErr)
	}
	return int(cred.Uid), nil
}
