package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"orchestrator/thread"
	"orchestrator/thread/ground/cache"
)

// MaxFile is the size limit of a native file; no agent's session is that long.
const MaxFile = 1 << 30

// tail is how many bytes before a known position are compared again before it is trusted.
const tail = 4096

// File is one native file: the adapter's name for it, and its path below the agent's folder.
type File struct {
	Name string
	Path string // relative to the root it is read from
}

// careful is the size up to which a file is hashed completely at every reading. Of a longer one that has been hashed
// before, only the bytes before the known position are compared again, so that reading costs what was appended; Verify
// finds a file that was changed in place before those bytes.
const careful = 8 << 20

// Reader reads what was appended to native files. It remembers, in memory, up to where each long file has been hashed.
// Safe for concurrent use.
type Reader struct {
	seen *cache.Cache[string, position]
}

// position is up to where a file has been read.
type position struct {
	size  int64
	sum   string // hex SHA-256 of the first size bytes
	state []byte // the hash's state there
	last  []byte // up to tail bytes before size
	info  os.FileInfo
}

// maxSeen limits the number of positions that are remembered.
const maxSeen = 1024

// NewReader returns a Reader without any remembered positions.
func NewReader() *Reader { return &Reader{cache.New[string, position](maxSeen)} }

// Read returns what was appended to the files below root after the marks, in whole lines. A file that no longer begins
// with the marked content is returned from its beginning. A missing file yields nothing.
func (r *Reader) Read(root string, files []File, marks []thread.Mark) ([]thread.Chunk, error) {
	dir, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open transcripts: %w", err)
	}
	defer dir.Close()
	var chunks []thread.Chunk
	for _, f := range files {
		c, err := r.readOne(dir, root, f, MarkOf(marks, f.Name))
		if err != nil {
			return nil, fmt.Errorf("read transcript %s: %w", f.Name, err)
		}
		if len(c.Data) > 0 {
			chunks = append(chunks, c)
		}
	}
	return chunks, nil
}

// MarkOf returns the mark of a file, an empty one if there is none.
func MarkOf(marks []thread.Mark, name string) thread.Mark {
	for _, m := range marks {
		if m.File == name {
			return m
		}
	}
	return thread.Mark{File: name}
}

// readOne reads one file.
func (r *Reader) readOne(dir *os.Root, root string, f File, mark thread.Mark) (thread.Chunk, error) {
	file, info, err := open(dir, f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return thread.Chunk{}, nil
	}
	if err != nil {
		return thread.Chunk{}, err
	}
	defer file.Close()
	key := root + "\x00" + f.Path
	from, h, last, err := r.resume(key, file, info, mark)
	if err != nil {
		return thread.Chunk{}, err
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return thread.Chunk{}, err
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFile-from))
	if err != nil {
		return thread.Chunk{}, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	if len(data) == 0 {
		return thread.Chunk{}, nil
	}
	h.Write(data)
	r.remember(key, info, from+int64(len(data)), h, append(last, data...))
	return thread.Chunk{File: f.Name, Offset: from, Data: data}, nil
}

// resume returns from where a file is to be read, with the hash of everything before: after the mark if the file still
// begins with the marked content, otherwise from the beginning.
func (r *Reader) resume(
	key string, file *os.File, info os.FileInfo, mark thread.Mark,
) (int64, hash.Hash, []byte, error) {
	if mark.Size == 0 || info.Size() < mark.Size {
		return 0, sha256.New(), nil, nil
	}
	if h, last, ok := r.known(key, file, info, mark); ok {
		return mark.Size, h, last, nil
	}
	h := sha256.New()
	if _, err := io.CopyN(h, file, mark.Size); err != nil {
		return 0, nil, nil, err
	}
	if hex.EncodeToString(h.Sum(nil)) != mark.SHA256 {
		return 0, sha256.New(), nil, nil
	}
	return mark.Size, h, nil, nil
}

// known returns the hash's state at the mark if the same file has been read up to there before and the bytes before it
// are unchanged.
func (r *Reader) known(key string, file *os.File, info os.FileInfo, mark thread.Mark) (hash.Hash, []byte, bool) {
	p, ok := r.seen.Get(key)
	if !ok || p.size <= careful || p.size != mark.Size || p.sum != mark.SHA256 || !os.SameFile(p.info, info) {
		return nil, nil, false
	}
	got := make([]byte, len(p.last))
	if _, err := file.ReadAt(got, p.size-int64(len(got))); err != nil || !bytes.Equal(got, p.last) {
		return nil, nil, false
	}
	h := sha256.New()
	u, ok := h.(encoding.BinaryUnmarshaler)
	if !ok || u.UnmarshalBinary(p.state) != nil {
		return nil, nil, false
	}
	return h, got, true
}

func (r *Reader) remember(key string, info os.FileInfo, size int64, h hash.Hash, before []byte) {
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok || size <= careful {
		return
	}
	state, err := m.MarshalBinary()
	if err != nil {
		return
	}
	r.seen.Put(key, position{
		size: size, sum: hex.EncodeToString(h.Sum(nil)), state: state, info: info,
		last: bytes.Clone(before[max(0, len(before)-tail):]),
	})
}

// open opens a regular file below dir without following a symbolic link at its end.
func open(dir *os.Root, path string) (*os.File, os.FileInfo, error) {
	info, err := dir.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, thread.Kindf(thread.ErrInvalid, "%s is not a regular file", path)
	}
	if info.Size() > MaxFile {
		return nil, nil, fmt.Errorf("%s has %d bytes: %w", path, info.Size(), thread.ErrLimit)
	}
	file, err := dir.Open(path)
	if err != nil {
		return nil, nil, err
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s changed while it was opened: %w", path, thread.ErrInvalid)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, opened, nil
}

// ReadAll returns a file's content; fs.ErrNotExist if it does not exist.
func ReadAll(root, path string) ([]byte, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, _, err := open(dir, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxFile))
}

// Verify compares files with marks. matched is the size of the marks that match; whole reports that all do. A file that
// is longer than its mark matches; no marks at all is not whole.
func Verify(root string, files []File, marks []thread.Mark) (matched int64, whole bool, err error) {
	if len(marks) == 0 {
		return 0, false, nil
	}
	dir, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("open transcripts: %w", err)
	}
	defer dir.Close()
	whole = true
	for _, m := range marks {
		ok, err := matches(dir, files, m)
		if err != nil {
			return matched, false, fmt.Errorf("verify transcript %s: %w", m.File, err)
		}
		if !ok {
			whole = false
			continue
		}
		matched += m.Size
	}
	return matched, whole, nil
}

func matches(dir *os.Root, files []File, m thread.Mark) (bool, error) {
	for _, f := range files {
		if f.Name != m.File {
			continue
		}
		file, info, err := open(dir, f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		defer file.Close()
		if info.Size() < m.Size {
			return false, nil
		}
		h := sha256.New()
		if _, err := io.CopyN(h, file, m.Size); err != nil {
			return false, err
		}
		return hex.EncodeToString(h.Sum(nil)) == m.SHA256, nil
	}
	return false, nil
}

// Lines calls each for every line of the data, without its newline; empty lines are skipped.
func Lines(data []byte, each func(line []byte)) {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			each(line)
		}
	}
}

// Appended returns what data contains after a mark, as Read does for a file: for adapters whose agent keeps no files.
func Appended(name string, data []byte, marks []thread.Mark) (thread.Chunk, bool) {
	m := MarkOf(marks, name)
	c := thread.Chunk{File: name, Data: data}
	if Matches(data, m) {
		c.Offset, c.Data = m.Size, data[m.Size:]
	}
	return c, len(c.Data) > 0
}

// Matches reports whether data begins with the marked content.
func Matches(data []byte, m thread.Mark) bool {
	if m.Size == 0 || int64(len(data)) < m.Size {
		return false
	}
	sum := sha256.Sum256(data[:m.Size])
	return hex.EncodeToString(sum[:]) == m.SHA256
}
