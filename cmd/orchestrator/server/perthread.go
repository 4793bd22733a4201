package server

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// perThread keeps something of each thread in a file of its own, with this ending, that begins with the sum of the rest.
type perThread struct {
	folder *private.Folder
	ending string
}

// mostKept is the size limit of such a file.
const mostKept = 8 << 20

func (k perThread) file(id thread.ID) string { return string(id) + k.ending }

// Keep implements masking.Pictures and base.Store.
func (k perThread) Keep(id thread.ID, what []byte) error {
	if len(what) > mostKept {
		return k.Drop(id)
	}
	sum := sha256.Sum256(what)
	return k.folder.Write(k.file(id), append(sum[:], what...))
}

// Last implements masking.Pictures and base.Store.
func (k perThread) Last(id thread.ID) ([]byte, error) {
	b, err := k.folder.Read(k.file(id), sha256.Size+mostKept)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(b) < sha256.Size || sha256.Sum256(b[sha256.Size:]) != [sha256.Size]byte(b):
		return nil, fmt.Errorf("%s: %w", k.folder.Path(k.file(id)), thread.ErrDamaged)
	}
	return b[sha256.Size:], nil
}

// Drop implements masking.Pictures and base.Store.
func (k perThread) Drop(id thread.ID) error {
	if err := k.folder.Remove(k.file(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
