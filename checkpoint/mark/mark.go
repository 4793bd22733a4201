// Package mark stores the number of a database's newest commit beside it, so that a loss is noticed.
//
// The mark is written after the commit is durable and before anybody is told so, and is not synced by itself: after a
// kill it is exact, after a power cut it may lag. It never leads. A database whose newest commit has a smaller number
// than its mark has lost acknowledged commits. The same record is stored in the database itself, written by every
// transaction, so that a page of a log says which commit and which database it belongs to.
//
// The file has two slots, written in turn: an interrupted write leaves the other one intact.
package mark

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// ID identifies a database.
type ID [16]byte

// Mark identifies a commit.
type Mark struct {
	DB  ID
	Seq uint64 // counts the commits of DB
}

const (
	// Size is the size of a record in bytes.
	Size = len(magic) + 16 + 8 + 4
	slot = 4096 // far enough apart that no write touches both
	all  = 2 * slot
)

// magic begins a record. It is not text, so that nothing in a conversation looks like one.
const magic = "\x00\xf5orch\xff\x01"

// Bytes returns the record.
func (m Mark) Bytes() []byte {
	b := append([]byte(magic), m.DB[:]...)
	b = binary.BigEndian.AppendUint64(b, m.Seq)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Parse reads a record; false if it is not one.
func Parse(b []byte) (Mark, bool) {
	if len(b) < Size || string(b[:len(magic)]) != magic ||
		binary.BigEndian.Uint32(b[Size-4:]) != crc32.ChecksumIEEE(b[:Size-4]) {
		return Mark{}, false
	}
	m := Mark{DB: ID(b[len(magic):]), Seq: binary.BigEndian.Uint64(b[len(magic)+16:])}
	return m, true
}

// Find returns the newest record in a page.
func Find(page []byte) (newest Mark, found bool) {
	for {
		at := bytes.Index(page, []byte(magic))
		if at < 0 {
			return newest, found
		}
		page = page[at:]
		if m, ok := Parse(page); ok && (!found || m.Seq > newest.Seq) {
			newest, found = m, true
		}
		page = page[1:]
	}
}

// Read returns the newer of a file's records. The error is fs.ErrNotExist if there is no file and thread.ErrDamaged
// if neither record can be read.
func Read(dir *private.Folder, name string) (Mark, error) {
	f, err := dir.File(name, os.O_RDONLY)
	if err != nil {
		return Mark{}, fmt.Errorf("read the mark of the newest commit: %w", err)
	}
	defer f.Close()
	var newest Mark
	found := false
	for _, at := range []int64{0, slot} {
		b := make([]byte, Size)
		if _, err := f.ReadAt(b, at); err != nil {
			continue // too short: treat as missing
		}
		if m, ok := Parse(b); ok && (!found || m.Seq > newest.Seq) {
			newest, found = m, true
		}
	}
	if !found {
		return Mark{}, fmt.Errorf("the mark of the newest commit %s: %w", dir.Path(name), thread.ErrDamaged)
	}
	return newest, nil
}

// File is a mark file that is being updated. It is not safe for concurrent use.
type File struct {
	f    *os.File
	next int64 // the slot to write next
}

// Open writes the database's mark to the file, and syncs it and its folder.
func Open(dir *private.Folder, name string, now Mark) (*File, error) {
	f, err := dir.File(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("keep the mark of the newest commit: %w", err)
	}
	b := make([]byte, all) // all of it takes up its space now
	copy(b, now.Bytes())
	copy(b[slot:], now.Bytes())
	_, err = f.WriteAt(b, 0)
	if err = errors.Join(err, f.Sync(), dir.Sync()); err != nil {
		return nil, errors.Join(fmt.Errorf("keep the mark of the newest commit: %w", err), f.Close())
	}
	return &File{f: f}, nil
}

// Put records that a commit is durable.
func (k *File) Put(m Mark) error {
	if _, err := k.f.WriteAt(m.Bytes(), k.next); err != nil {
		return fmt.Errorf("mark the newest commit: %w", err)
	}
	k.next = slot - k.next
	return nil
}

// Sync makes the mark survive a power cut.
func (k *File) Sync() error {
	if err := k.f.Sync(); err != nil {
		return fmt.Errorf("sync the mark of the newest commit: %w", err)
	}
	return nil
}

// Close syncs and closes the file.
func (k *File) Close() error { return errors.Join(k.Sync(), k.f.Close()) }
