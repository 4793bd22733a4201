//go:build !linux

package process

import (
	"os"
	"syscall"
)

// attributes make a program lead a session of its own. The end of its standard input tells it that we have ended.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitEnd does not wait: the end is known when it is collected.
func awaitEnd(int) bool { return false }

// unreadOf is not known.
func unreadOf(*os.File) int64 { return 0 }
