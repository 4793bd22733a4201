package raw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// magicText begins a database file.
const magicText = "SQLite format 3\x00"

// File is a database as it would be with a part of its log folded in. It only stores positions.
type File struct {
	PageSize int
	// Pages is the number of pages.
	Pages uint32

	base io.ReaderAt
	has  uint32 // pages of base
	log  *Log
	over map[uint32]Frame
}

// PageSize returns the page size in a database's header, or a default.
func PageSize(base io.ReaderAt, otherwise int) int {
	var b [100]byte
	if _, err := base.ReadAt(b[:], 0); err != nil || string(b[:16]) != magicText {
		return otherwise
	}
	n := int(binary.BigEndian.Uint16(b[16:]))
	if n == 1 {
		n = 65536
	}
	if !power(n) {
		return otherwise
	}
	return n
}

// View overlays frames of a log on a database of size bytes. Pages in skip are taken from the database.
func View(base io.ReaderAt, size int64, pageSize int, log *Log, frames []Frame, skip map[uint32]bool) *File {
	f := &File{PageSize: pageSize, base: base, has: uint32(size / int64(pageSize)), log: log, over: map[uint32]Frame{}}
	f.Pages = f.has
	var most uint32
	bound := f.has + 64*uint32(len(frames)) // a wrong number must not fill a disk
	for _, x := range frames {
		if !x.Sound || x.Page == 0 || x.Page > bound {
			continue
		}
		if x.Size != 0 {
			f.Pages = x.Size
		}
		if most = max(most, x.Page); !skip[x.Page] || x.Page > f.has {
			f.over[x.Page] = x
		}
	}
	f.Pages = min(f.Pages, max(most, f.has))
	return f
}

// Page returns one page, the first being 1.
func (f *File) Page(n uint32) ([]byte, error) {
	if n == 0 || n > f.Pages {
		return nil, fmt.Errorf("page %d of %d: %w", n, f.Pages, io.EOF)
	}
	if x, ok := f.over[n]; ok {
		return f.log.Read(x)
	}
	b := make([]byte, f.PageSize)
	if n > f.has {
		return b, nil
	}
	if _, err := f.base.ReadAt(b, int64(n-1)*int64(f.PageSize)); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read page %d: %w", n, err)
	}
	return b, nil
}

// WriteTo writes all pages as a database without a log.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	var n int64
	for p := uint32(1); p <= f.Pages; p++ {
		b, err := f.Page(p)
		if err != nil {
			return n, err
		}
		if p == 1 && len(b) >= 100 {
			copy(b, magicText)
			binary.BigEndian.PutUint16(b[16:], uint16(f.PageSize)) // 65536 becomes 0, which we never use
			copy(b[18:], []byte{1, 1, 0, 64, 32, 32})              // no log, and the constant header values
			binary.BigEndian.PutUint32(b[28:], f.Pages)
			copy(b[92:96], b[24:28]) // the size is valid for this change
		}
		k, err := w.Write(b)
		if n += int64(k); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Numbers returns the two numbers that a database's header keeps for its owner.
func (f *File) Numbers() (application, version uint32, ok bool) {
	b, err := f.Page(1)
	if err != nil || len(b) < 100 || string(b[:16]) != magicText {
		return 0, 0, false
	}
	return binary.BigEndian.Uint32(b[68:]), binary.BigEndian.Uint32(b[60:]), true
}

// Empty reports whether it has never had a table.
func (f *File) Empty() bool {
	b, err := f.Page(1)
	return err != nil || len(b) < 105 || binary.BigEndian.Uint16(b[103:]) == 0
}
