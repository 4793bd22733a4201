package staging

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"regexp"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

const (
	// maxLine is the maximum length of a line that --grep can search.
	maxLine = 16 << 20
	// maxPattern is the maximum length of a regular expression.
	maxPattern = 4 << 10

	previewLines = 3
	previewWidth = 100 // bytes of a line
)

// reading is open data.
type reading struct {
	file io.ReadCloser
	name string
	size int64
	sum  string // the SHA-256 that the data had when it was staged
	part thread.Selection
	grep *regexp.Regexp // nil selects all lines
}

// Retrieve opens an entry, or a part of it. This counts as a use and restarts the entry's time to live.
func (s *Store) Retrieve(t thread.Token, part thread.Selection) (thread.StagedData, error) {
	r, err := newReading(part)
	if err != nil {
		return nil, err
	}
	d, err := s.lookUp(t)
	if err != nil {
		return nil, err
	}
	if part != (thread.Selection{}) && d.Kind == thread.DataBinary {
		return nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "%s is binary and has no lines", t),
			"retrieve it without --head, --range and --grep")
	}
	file, err := s.open(d)
	if err != nil {
		return nil, err
	}
	r.file, r.name, r.size, r.sum = file, file.Name(), d.Bytes, d.SHA256
	_ = s.use(d) // a full disk does not prevent reading
	return r, nil
}

// Select returns data that is kept elsewhere, or a part of it, as Retrieve does.
func Select(data []byte, part thread.Selection) (thread.StagedData, error) {
	r, err := newReading(part)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	r.file, r.size, r.sum = io.NopCloser(bytes.NewReader(data)), int64(len(data)), hex.EncodeToString(sum[:])
	return r, nil
}

// newReading checks which part of data is wanted.
func newReading(part thread.Selection) (*reading, error) {
	if err := part.Check(); err != nil {
		return nil, fmt.Errorf("retrieve: %w", err)
	}
	if len(part.Grep) > maxPattern {
		return nil, thread.Kindf(thread.ErrInvalid, "the regular expression is longer than %d bytes", maxPattern)
	}
	r := &reading{part: part}
	if part.Grep != "" {
		grep, err := regexp.Compile(part.Grep)
		if err != nil {
			return nil, fmt.Errorf("%w regular expression: %w", thread.ErrInvalid, err)
		}
		r.grep = grep
	}
	return r, nil
}

// use restarts an entry's time to live, but not at every use, because it is a write.
func (s *Store) use(d document) error {
	if s.cfg.Since(d.Extended) <= d.TTL/10 {
		return nil
	}
	_, err := s.Touch(d.Token, 0)
	return err
}

// open opens an entry's data.
func (s *Store) open(d document) (*os.File, error) {
	file, err := s.folder.File(d.dataName(), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := s.lookUp(d.Token); gone != nil {
			return nil, gone // it was removed just now
		}
		return nil, fmt.Errorf("%w: the file of %s is missing: %s", thread.ErrDamaged, d.Token, s.folder.Path(d.dataName()))
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", d.Token, err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() != d.Bytes {
		err = fmt.Errorf("%w: %s has %d bytes, but %d were staged", thread.ErrDamaged, s.folder.Path(d.dataName()),
			info.Size(), d.Bytes)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Close implements thread.StagedData.
func (r *reading) Close() error { return r.file.Close() }

// WriteTo implements thread.StagedData.
func (r *reading) WriteTo(w io.Writer) (int64, error) {
	out := &counted{w: bufio.NewWriterSize(w, chunk)}
	err := r.write(out)
	if flushErr := out.w.Flush(); err == nil {
		err = flushErr
	}
	return out.n, err
}

// counted counts the bytes that are written.
type counted struct {
	w *bufio.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// write writes the selected data. If it reads the data to the end, it checks its SHA-256 then.
func (r *reading) write(w io.Writer) error {
	digest := sha256.New()
	in := io.TeeReader(io.LimitReader(r.file, r.size), digest)
	if r.part == (thread.Selection{}) {
		n, err := io.CopyBuffer(w, in, make([]byte, chunk))
		if err == nil && n < r.size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		return r.check(digest)
	}
	lines, left := bufio.NewReaderSize(in, chunk), r.part.Head
	for n := int64(1); r.part.To == 0 || n <= r.part.To; n++ {
		wrote, err := r.line(w, lines, n)
		if errors.Is(err, io.EOF) {
			return r.check(digest)
		}
		if err != nil {
			return err
		}
		if left--; !wrote {
			left++
		}
		if r.part.Head > 0 && left == 0 {
			return nil
		}
	}
	return nil
}

// check compares the SHA-256 of all the data with the one that it had when it was staged.
func (r *reading) check(digest hash.Hash) error {
	if sum := hex.EncodeToString(digest.Sum(nil)); sum != r.sum {
		return thread.Hint(fmt.Errorf("%w: %s was changed after it was staged: its SHA-256 is %s instead of %s",
			thread.ErrDamaged, r.name, sum, r.sum), "do not use this data; stage it again")
	}
	return nil
}

// line reads a line and writes it if it is selected. It returns io.EOF after the last line.
func (r *reading) line(w io.Writer, in *bufio.Reader, n int64) (wrote bool, err error) {
	if _, err := in.Peek(1); err != nil {
		return false, err
	}
	if r.grep != nil && n >= r.part.From {
		line, err := whole(in, n)
		if err != nil || !r.grep.Match(trimEnd(line)) {
			return false, err
		}
		_, err = w.Write(line)
		return true, err
	}
	for {
		piece, err := in.ReadSlice('\n')
		if n >= r.part.From {
			if _, err := w.Write(piece); err != nil {
				return true, err
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return true, err
		default:
			return n >= r.part.From, nil
		}
	}
}

// whole reads a line with its newline.
func whole(in *bufio.Reader, n int64) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		if line == nil && err == nil {
			return piece, nil
		}
		if line = append(line, piece...); len(line) > maxLine {
			return nil, fmt.Errorf("line %d is longer than %s, the limit of --grep: %w", n, thread.Bytes(maxLine),
				thread.ErrUnsupported)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		default:
			return line, nil
		}
	}
}

// trimEnd returns a line without its line ending.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// Info describes an entry. It does not count as a use.
func (s *Store) Info(t thread.Token) (thread.StagedInfo, error) {
	d, err := s.lookUp(t)
	if err != nil {
		return thread.StagedInfo{}, err
	}
	pins, err := s.cfg.Pins()
	if err != nil {
		return thread.StagedInfo{}, fmt.Errorf("look up %s: %w", t, err)
	}
	s.pinned(&d, pins)
	info := thread.StagedInfo{Staged: d.Staged, File: s.folder.Path(d.dataName())}
	file, err := s.open(d)
	if err != nil || d.Kind == thread.DataBinary {
		if err == nil {
			file.Close()
		}
		return info, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, chunk)
	for range previewLines {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			info.Preview = append(info.Preview, preview(line))
		}
		if errors.Is(err, io.EOF) {
			return info, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			info.More = true // the rest of this line
			return info, nil
		}
		if err != nil {
			return info, fmt.Errorf("read the beginning of %s: %w", t, err)
		}
	}
	_, err = in.Peek(1)
	info.More = err == nil
	return info, nil
}

// preview returns the beginning of a line.
func preview(line []byte) string {
	text := trimEnd(line)
	if len(text) <= previewWidth {
		return string(text)
	}
	if !utf8.Valid(text) {
		return string(text[:previewWidth]) + "..."
	}
	return plaintext.Cut(string(text), previewWidth) + "..."
}
