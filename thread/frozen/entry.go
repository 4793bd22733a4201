// Package frozen copies files of a repository exactly as they were accepted, so that the copy can be run: what stands
// in their place in the repository may be exchanged at any moment by whoever can write there.
//
// A Collector gathers files with the layout that they have to each other: single ones, folders with all that is in
// them, and what links in them lead to. A Store keeps a copy by the hash of everything in it. A copy is complete before
// it has its name, is read again before each use, and cannot be written to.
package frozen

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Limits of one copy.
const (
	MaxEntries = 50_000
	MaxBytes   = 512 << 20
)

// ErrTooLarge means that there is more than a copy may hold.
var ErrTooLarge = errors.New("too large to be copied")

// ErrChanged means that files changed while they were read, or are not what they were.
var ErrChanged = errors.New("changed while it was read")

// Entry is a file or a link of a copy. Folders are there if something is in them.
type Entry struct {
	Path string // relative to the copy, with slashes
	Sum  string // of a file's content, hex SHA-256
	Size int64
	Exec bool   // the file is a program
	Link string // what a link contains; empty for a file

	from string // where it is read
}

// Hash tells apart all sets of entries. It does not depend on where they are read.
func Hash(entries []Entry) string {
	h := sha256.New()
	for _, e := range entries {
		fmt.Fprintf(h, "%q %q %q %v\n", e.Path, e.Sum, e.Link, e.Exec)
	}
	return hex.EncodeToString(h.Sum(nil))
}
