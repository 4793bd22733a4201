package project

import "golang.org/x/sys/unix"

// born tells when an inode was made that is at a path, in nanoseconds since 1970; 0 where the file system does not say.
func born(path string, inode uint64) int64 {
	var x unix.Statx_t
	const how = unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_DONT_SYNC
	err := unix.Statx(unix.AT_FDCWD, path, how, unix.STATX_BTIME|unix.STATX_INO, &x)
	if err != nil || x.Ino != inode || x.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return x.Btime.Sec*1e9 + int64(x.Btime.Nsec)
}
