// Package spool keeps checkpoints that the store refuses, in files of its own, until the store takes them.
//
// A checkpoint is durable, power cut included, when Append returns. What a crash cut off while it was written is
// no checkpoint; what was damaged afterwards is counted and named, and the others are handed back.
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
	// suffix ends the name of a thread's file; the thread's id comes before it.
	suffix = ".spool"
	// countSuffix ends the name of the file beside it that is as many bytes long as there are records, by which one
	// that was cut off or deleted is noticed. It may lag and never leads.
	countSuffix = ".count"
)

// A record is its length and the CRC-32C of its JSON, four bytes each, big-endian, then the JSON.
const head = 8

// maxRecord bounds one checkpoint: the store takes no larger one.
const maxRecord = 256 << 20

// maxCount is more records than a thread's agent leaves while the store refuses them.
const maxCount = 1 << 20

// Reserve is room that was set aside for a full disk.
type Reserve interface {
	// Release gives the room back to the disk; false where none is left.
	Release() bool
	// Refill sets it aside again, as far as the disk allows.
	Refill() error
}

// Spool keeps what was refused. It is safe for use by many goroutines.
type Spool struct {
	folder  *private.Folder
	reserve Reserve

	mu   sync.Mutex // guards the files' ends
	ends map[thread.ID]int64
}

var _ thread.Spool = (*Spool)(nil)

// Open opens the spool in a folder, which it closes with Close. Room for a full disk is taken from the reserve,
// nil where there is none.
func Open(folder *private.Folder, reserve Reserve) *Spool {
	return &Spool{folder: folder, reserve: reserve, ends: map[thread.ID]int64{}}
}

// Close closes the folder.
func (s *Spool) Close() error { return s.folder.Close() }

// record is a refused checkpoint as it lies in a file.
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

// append writes a record behind the last whole one, and syncs it.
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
	if err := f.Truncate(end); err != nil { // what a crash or a full disk cut off
		return 0, err
	}
	if _, err := f.WriteAt(b, end); err != nil {
		return 0, errors.Join(err, f.Truncate(end))
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	if end == 0 {
		if err := s.folder.Sync(); err != nil {
			return 0, err
		}
	}
	s.ends[id] = end + int64(len(b))
	s.count(id)
	return end, nil
}

// count notes that a record more is kept. Where that fails, as on a full disk, its loss would not be noticed.
func (s *Spool) count(id thread.ID) {
	f, err := s.folder.File(string(id)+countSuffix, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write([]byte{'.'})
}

// counted returns how many records there must be, 0 where nothing says so.
func (s *Spool) counted(id thread.ID) int {
	f, err := s.folder.File(string(id)+countSuffix, os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCount))
	if err != nil || len(bytes.Trim(b, ".")) > 0 {
		return 0 // none of ours
	}
	return len(b)
}

// lastWhole returns where the last record ends whose length and place fit the file.
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

// after returns where the record at an offset ends, 0 where no whole one lies there.
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

// read returns the record at an offset; thread.ErrDamaged where it is not what was written.
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
		return r, fmt.Errorf("record at %d is of another thread or unreadable: %w", at, thread.ErrDamaged)
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

// records returns where a thread's records lie.
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
	for _, end := range []string{countSuffix, suffix} { // the count first: alone, it tells of a loss
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
		return "", fmt.Errorf("put the spool of thread %s aside: %w", id, err)
	}
	name := fmt.Sprintf("%s.damaged-%d-%s", id, time.Now().Unix(), thread.NewID[string]()) // no other's, whatever the clock says
	switch err := s.folder.Rename(string(id)+suffix, name); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("put the spool of thread %s aside: %w", id, err)
	}
	return s.folder.Path(name), nil
}

func table() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
