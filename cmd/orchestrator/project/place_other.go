//go:build !linux

package project

import (
	"io/fs"
	"syscall"
)

// placeOf tells where a folder is on its disk.
func placeOf(_ string, info fs.FileInfo) place {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return place{}
	}
	return place{Device: uint64(st.Dev), Inode: st.Ino}
}
