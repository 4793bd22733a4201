package frozen

import (
	"os"
	"syscall"
	"time"
)

// identify returns what tells apart the states of a file, and when its inode last changed.
func identify(info os.FileInfo) (identity, time.Time) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, time.Now()
	}
	return identity{
		dev: uint64(s.Dev), ino: s.Ino, size: s.Size, mtime: s.Mtim.Nano(), changed: s.Ctim.Nano(),
	}, time.Unix(s.Ctim.Unix())
}
