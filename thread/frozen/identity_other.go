//go:build !linux

package frozen

import (
	"os"
	"time"
)

// identify knows nothing that tells apart the states of a file here: none is remembered.
func identify(info os.FileInfo) (identity, time.Time) {
	return identity{size: info.Size(), mtime: info.ModTime().UnixNano()}, time.Now()
}
