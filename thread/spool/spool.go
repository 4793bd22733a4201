// Package spool keeps checkpoints that the store refuses, in files of its own, until the store accepts them.
//
// A checkpoint is durable, also across a power cut, when Append returns. A record that a crash cut off is not a
// checkpoint; a record damaged later is counted and reported, and the others are returned.
package spool

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	// suffix ends the name of a thread's file, after the thread's id.
	suffix = ".spool"
	// countSuffix ends the name of the file beside it whose size in bytes is the number of records, which reveals a file
	// that was truncated or deleted. It may lag and never leads.
	countSuffix = ".count"
)

// A record is its length and the CRC-32C of its JSON, four bytes each, big-endian, then the JSON.
const head = 8

// maxRecord bounds one checkpoint: the store accepts no larger one.
const maxRecord = 256 << 20

// maxCount is more than the records that a thread's agent produces while the store refuses them.
const maxCount = 1 << 20

// Reserve is reserved space for a full disk.
type Reserve interface {
	// Release frees the space; false if none is left.
	Release() bool
	// Refill reserves it again, as far as the disk allows.
	Refill() error
}

// Spool keeps refused checkpoints. It is safe for concurrent use.
type Spool struct {
	folder  *private.Folder
	reserve Reserve
	// They make a file's content durable, and the names in the folder. Tests count on them alone.
	sync      func(*os.File) error
	syncNames func() error

	mu   sync.Mutex // guards the ends of the files
	ends map[thread.ID]int64
}

var _ thread.Spool = (*Spool)(nil)

// Open opens the spool in a folder, which Close closes. On a full disk it uses the reserve, nil if there is none.
func Open(folder *private.Folder, reserve Reserve) *Spool {
	return &Spool{folder: folder, reserve: reserve, sync: (*os.File).Sync, syncNames: folder.Sync, ends: map[thread.ID]int64{}}
}

// Close closes the folder.
func (s *Spool) Close() error { return s.folder.Close() }

// record is a refused checkpoint as it is stored in a file.
type record struct {
	Checkpoint thread.Checkpoint `json:"checkpoint"`
	Keep       int               `json:"keep"`
	Items      []thread.Item     `json:"items,omitempty"`
	Transcript []thread.Chunk    `json:"transcript,omitempty"`
	Prompts    []thread.Prompt   `json:"prompts,omitempty"`
}

// Append implements thread.Spool.
func (s *Spool) Append(c thread.Checkpoint, d thread.Delta) (at int64, err error) {
	body, err := json.Marshal(record{c, d.Keep, d.Items, d.Transcript, d.Prompts})
	if err != nil {
		return 0, fmt.Errorf("spool a checkpoint: %w", err)
	}
	if len(body) > maxRecord {
		return 0, fmt.Errorf("spool a checkpoint of %d bytes: %w", len(body), thread.ErrInvalid)
	}
	b := make([]byte, head, head+len(body))
	binary.BigEndian.PutUint32(b, uint32(len(body)))
	binary.BigEndian.PutUint32(b[4:], crc32.Checksum(body, table()))
	b = append(b, body...)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err = s.append(c.Thread, b)
	for err != nil && s.reserve != nil && full(err) && s.reserve.Release() {
		at, err = s.append(c.Thread, b)
	}
	if err != nil {
		return 0, fmt.Errorf("spool a checkpoint: %w", err)
	}
	return at, nil
}

// append writes a record after the last complete one, and syncs it.
func (s *Spool) append(id thread.ID, b []byte) (int64, error) {
	f, err := s.folder.File(string(id)+suffix, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	end, known := s.ends[id]
	if !known {
		if end, err = lastWhole(f); err != nil {
			return 0, err
		}
	}
	if err := f.Truncate(end); err != nil { // cut off by a crash or a full disk
		return 0, err
	}
	if _, err := f.WriteAt(b, end); err != nil {
		return 0, errors.Join(err, f.Truncate(end))
	}
	if err := s.sync(f); err != nil {
		return 0, errors.Join(err, f.Truncate(end)) // it will be tried again
	}
	if !known { // whoever created the file may not have come to this
		if err := s.syncNames(); err != nil {
			return 0, errors.Join(err, f.Truncate(end))
		}
	}
	s.ends[id] = end + int64(len(b))
	s.count(id)
	return end, nil
}

// count records that there is one more record. If that fails, as on a full disk, the loss of the record would not be
// noticed.
func (s *Spool) count(id thread.ID) {
	f, err := s.folder.File(string(id)+countSuffix, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write([]byte{'.'})
}

// counted returns the expected number of records, 0 if unknown.
func (s *Spool) counted(id thread.ID) int {
	f, err := s.folder.File(string(id)+countSuffix, os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCount))
	if err != nil || len(bytes.Trim(b, ".")) > 0 {
		return 0 // not one of ours
	}
	return len(b)
}

// lastWhole returns the end of the last record whose length and position fit the file.
func lastWhole(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := int64(0)
	for {
		next, err := after(f, end, info.Size())
		if err != nil || next == 0 {
			return end, err
		}
		end = next
	}
}

// after returns the end of the record at an offset, 0 if there is no complete one.
func after(f io.ReaderAt, at, size int64) (int64, error) {
	var h [head]byte
	if at+head > size {
		return 0, nil
	}
	if _, err := f.ReadAt(h[:], at); err != nil {
		return 0, err
	}
	n := int64(binary.BigEndian.Uint32(h[:]))
	if n == 0 || n > maxRecord || at+head+n > size {
		return 0, nil
	}
	return at + head + n, nil
}

// Read implements thread.Spool.
func (s *Spool) Read(id thread.ID, at int64) (thread.Checkpoint, thread.Delta, error) {
	f, err := s.folder.File(string(id)+suffix, os.O_RDONLY)
	if err != nil {
		return thread.Checkpoint{}, thread.Delta{}, fmt.Errorf("read the spool: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return thread.Checkpoint{}, thread.Delta{}, fmt.Errorf("read the spool: %w", err)
	}
	r, err := read(f, at, info.Size(), id)
	if err != nil {
		return thread.Checkpoint{}, thread.Delta{}, fmt.Errorf("read the spool: %w", err)
	}
	return r.Checkpoint, thread.Delta{Keep: r.Keep, Items: r.Items, Transcript: r.Transcript, Prompts: r.Prompts}, nil
}

// read returns the record at an offset; thread.ErrDamaged if it is not what was written.
func read(f io.ReaderAt, at, size int64, id thread.ID) (r record, err error) {
	end, err := after(f, at, size)
	if err != nil {
		return r, err
	}
	if end == 0 {
		return r, fmt.Errorf("no record at %d: %w", at, thread.ErrDamaged)
	}
	b := make([]byte, end-at)
	if _, err := f.ReadAt(b, at); err != nil {
		return r, err
	}
	if crc32.Checksum(b[head:], table()) != binary.BigEndian.Uint32(b[4:]) {
		return r, fmt.Errorf("record at %d: %w", at, thread.ErrDamaged)
	}
	if err := json.Unmarshal(b[head:], &r); err != nil || r.Checkpoint.Thread != id {
		return r, fmt.Errorf("record at %d belongs to another thread or is unreadable: %w", at, thread.ErrDamaged)
	}
	return r, nil
}

// Kept implements thread.Spool.
func (s *Spool) Kept() (map[thread.ID]thread.Spooled, error) {
	entries, err := s.folder.List()
	if err != nil {
		return nil, fmt.Errorf("list the spool: %w", err)
	}
	kept := map[thread.ID]thread.Spooled{}
	var errs []error
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok {
			name, ok = strings.CutSuffix(e.Name(), countSuffix)
		}
		id := thread.ID(name)
		if _, seen := kept[id]; seen || !ok || id.Check() != nil {
			continue
		}
		of, err := s.records(id)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("list the spool of thread %s: %w", id, err))
		}
		of.Missing = max(0, s.counted(id)-len(of.Places))
		kept[id] = of
	}
	return kept, errors.Join(errs...)
}

// records returns the offsets of a thread's records.
func (s *Spool) records(id thread.ID) (kept thread.Spooled, err error) {
	f, err := s.folder.File(string(id)+suffix, os.O_RDONLY)
	if err != nil {
		return kept, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return kept, err
	}
	for at := int64(0); ; {
		next, err := after(f, at, info.Size())
		if err != nil || next == 0 {
			kept.Unreadable = info.Size() - at
			return kept, err
		}
		kept.Places, at = append(kept.Places, at), next
	}
}

// Drop implements thread.Spool.
func (s *Spool) Drop(id thread.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ends, id)
	for _, end := range []string{countSuffix, suffix} { // the count first: alone, it would indicate a loss
		if err := s.folder.Remove(string(id) + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("drop the spool of thread %s: %w", id, err)
		}
	}
	if s.reserve != nil {
		_ = s.reserve.Refill() // or the next time
	}
	return nil
}

// SetAside implements thread.Spool.
func (s *Spool) SetAside(id thread.ID) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ends, id)
	if err := s.folder.Remove(string(id) + countSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("set aside the spool of thread %s: %w", id, err)
	}
	name := fmt.Sprintf("%s.damaged-%d-%s", id, time.Now().Unix(), thread.NewID[string]()) // unique for any clock
	switch err := s.folder.Rename(string(id)+suffix, name); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("set aside the spool of thread %s: %w", id, err)
	}
	return s.folder.Path(name), nil
}

func table() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
