package git

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// maxIndex is the largest index whose checksum is verified: about two million files.
const maxIndex = 256 << 20

// DamagedIndex reports whether an index is invalid, or does not match the checksum at its end; git itself checks that only
// in fsck. A missing one is bad if due is set, and something else than a file is not judged.
func DamagedIndex(file string, due bool) bool {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without blocking at a pipe
	if err != nil {
		return due && errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxIndex))
	if err != nil || !bytes.HasPrefix(b, []byte("DIRC")) {
		return true
	}
	return len(b) < maxIndex && !summed(b)
}

// summed reports whether the checksum at the end of an index matches its content, in either of git's hashes, or is all
// zeroes, which index.skipHash writes.
func summed(b []byte) bool {
	if n := len(b) - sha1.Size; n > 0 {
		if sum := sha1.Sum(b[:n]); bytes.Equal(sum[:], b[n:]) || len(bytes.Trim(b[n:], "\x00")) == 0 {
			return true
		}
	}
	if n := len(b) - sha256.Size; n > 0 {
		sum := sha256.Sum256(b[:n])
		return bytes.Equal(sum[:], b[n:])
	}
	return false
}
