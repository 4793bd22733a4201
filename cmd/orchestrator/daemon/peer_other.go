//go:build !linux

package daemon

import (
	"net"
	"os"
)

// peer trusts the folder's mode where the kernel is not asked.
func peer(net.Conn) (uid int, err error) { return os.Getuid(), nil }
