package project

import (
	"io/fs"
	"os"
	"syscall"
)

// place tells one folder from another: a name can lead to several, and a number can be reused.
type place struct {
	Device uint64 `json:"device,omitempty"`
	Inode  uint64 `json:"inode,omitempty"`
	Born   int64  `json:"born,omitempty"` // in nanoseconds; 0 where the file system does not tell
}

// known is false for what does not exist.
func (p place) known() bool { return p.Inode != 0 }

// same reports whether two places are one folder. A device can have another number after a restart of the machine, so
// that its number does not count where the path is the same.
func (p place) same(q place, samePath bool) bool {
	if !p.known() || p.Inode != q.Inode || p.Born != 0 && q.Born != 0 && p.Born != q.Born {
		return false
	}
	return p.Device == q.Device || samePath
}

// devOf returns the place of what is at a path; it is not known where nothing is there.
func devOf(path string) place {
	info, err := os.Lstat(path)
	if err != nil {
		return place{}
	}
	return placeOf(path, info)
}

// placeOf returns the place of what is at a path, of which info was read there.
func placeOf(path string, info fs.FileInfo) place {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return place{}
	}
	return place{Device: uint64(st.Dev), Inode: st.Ino, Born: born(path, st.Ino)}
}

// exists reports whether there is something at a path, as far as that can be seen.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
