package frozen

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"orchestrator/thread/ground/cache"
)

// Sums remembers the hashes of files that have not changed since, as far as their inodes tell. A file that changed just
// before it was read is not remembered. What is run is never taken from here: a copy is hashed while it is written.
type Sums struct {
	known *cache.Cache[identity, string]
}

// NewSums returns Sums that remember nothing yet.
func NewSums() *Sums { return &Sums{cache.New[identity, string](maxKnown)} }

// settled is how long ago a file must have changed for its times to tell later changes, maxKnown how many are remembered.
const (
	settled  = 2 * time.Second
	maxKnown = 500_000
)

// of returns the hash of a regular file of at most limit bytes, without following a link and without blocking.
func (s *Sums) of(path string, limit int64) (sum string, info os.FileInfo, err error) {
	file, info, err := open(path)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	if info.Size() > limit {
		return "", nil, fmt.Errorf("%s: %w: %d bytes", path, ErrTooLarge, info.Size())
	}
	id, changed := identify(info)
	if s != nil {
		if sum, ok := s.known.Get(id); ok {
			return sum, info, nil
		}
	}
	began := time.Now()
	sum, n, err := hashOf(file, limit)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	if n != info.Size() {
		return sum, info, nil // it grows or shrinks: what was read now says nothing of later
	}
	if s != nil && began.Sub(changed) > settled {
		s.known.Put(id, sum)
	}
	return sum, info, nil
}

var errIrregular = errors.New("not a regular file")

// open opens a regular file, never through a link.
func open(path string) (*os.File, os.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, errIrregular)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// hashOf reads to the end, and at most limit bytes.
func hashOf(from io.Reader, limit int64) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(from, limit+1))
	if err == nil && n > limit {
		err = ErrTooLarge
	}
	return hex.EncodeToString(h.Sum(nil)), n, err
}
