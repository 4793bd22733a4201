package project

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// placeOf tells where a folder is on its disk.
func placeOf(path string, info fs.FileInfo) place {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return place{}
	}
	p := place{Device: st.Dev, Inode: st.Ino}
	var x unix.Statx_t
	const how = unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_DONT_SYNC
	err := unix.Statx(unix.AT_FDCWD, path, how, unix.STATX_BTIME|unix.STATX_INO, &x)
	if err == nil && x.Ino == st.Ino && x.Mask&unix.STATX_BTIME != 0 {
		p.Born = x.Btime.Sec*1e9 + int64(x.Btime.Nsec)
	}
	return p
}
