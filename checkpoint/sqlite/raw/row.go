package raw

import (
	"encoding/binary"
	"fmt"

	"orchestrator/thread"
)

// Types of pages that contain rows, and the page map's type for a free page.
const (
	leafTable = 0x0d
	freePage  = 2
	mostRow   = 80 << 20 // bytes
)

// Place is the position of a row.
type Place struct {
	Page uint32
	Cell int
}

// Row is one row of a table: an int64, string, []byte or nil per column.
type Row struct {
	Place
	N    int64 // its number
	Cols []any
}

// Rows returns every readable row of every table, without using the database's own trees: a lost page costs only its
// own rows. Free pages are skipped if the page map says so. Unreadable rows are counted. Columns longer than a page are
// truncated; Row reads them completely.
func (f *File) Rows(each func(Row) error) (bad int, err error) {
	for n := uint32(2); n <= f.Pages; n++ {
		if f.isMap(n) || f.Free(n) {
			continue
		}
		page, err := f.Page(n)
		if err != nil {
			return bad, err
		}
		if page[0] != leafTable {
			continue
		}
		for i := range int(binary.BigEndian.Uint16(page[3:])) {
			row, err := f.row(page, Place{n, i}, false)
			if err != nil {
				bad++
				continue
			}
			if err := each(row); err != nil {
				return bad, err
			}
		}
	}
	return bad, nil
}

// Row reads the complete row at a place.
func (f *File) Row(at Place) (Row, error) {
	page, err := f.Page(at.Page)
	if err != nil {
		return Row{}, err
	}
	return f.row(page, at, true)
}

// isMap reports whether a page is part of the page map of an auto-vacuum database, which gives the type of each page.
func (f *File) isMap(n uint32) bool { return n >= 2 && f.mapOf(n) == n }

func (f *File) mapOf(n uint32) uint32 {
	per := uint32(f.PageSize/5 + 1)
	return (n-2)/per*per + 2
}

// Free reports whether the page map says that a page is free.
func (f *File) Free(n uint32) bool {
	m, err := f.Page(f.mapOf(n))
	at := 5 * int(n-f.mapOf(n)-1)
	return err == nil && at >= 0 && at < len(m) && m[at] == freePage
}

func errRow(at Place, format string, args ...any) error {
	return fmt.Errorf("page %d, row %d: %s: %w", at.Page, at.Cell, fmt.Sprintf(format, args...), thread.ErrDamaged)
}

// row reads a cell of a table's leaf page.
func (f *File) row(page []byte, at Place, whole bool) (Row, error) {
	r := Row{Place: at}
	slot := 8 + 2*at.Cell
	if slot+2 > len(page) {
		return r, errRow(at, "no such row")
	}
	off := int(binary.BigEndian.Uint16(page[slot:]))
	if off < slot+2 || off >= len(page) {
		return r, errRow(at, "it begins at %d", off)
	}
	cell := page[off:]
	size, k := varint(cell)
	if k == 0 || size > mostRow {
		return r, errRow(at, "%d bytes", size)
	}
	number, k2 := varint(cell[k:])
	if k2 == 0 {
		return r, errRow(at, "no number")
	}
	r.N = int64(number)
	body, err := f.payload(cell[k+k2:], int(size), whole, at)
	if err != nil {
		return r, err
	}
	r.Cols, err = columns(body, int(size), at)
	return r, err
}

// payload reads a row's bytes, including overflow pages if all are wanted.
func (f *File) payload(cell []byte, size int, whole bool, at Place) ([]byte, error) {
	u := f.PageSize
	local, most := size, u-35
	if size > most {
		least := (u-12)*32/255 - 23
		if local = least + (size-least)%(u-4); local > most {
			local = least
		}
	}
	if local > len(cell) || (local < size && local+4 > len(cell)) {
		return nil, errRow(at, "cut off")
	}
	if local == size || !whole {
		return cell[:local], nil
	}
	out := append(make([]byte, 0, size), cell[:local]...)
	for next := binary.BigEndian.Uint32(cell[local:]); len(out) < size; {
		page, err := f.Page(next)
		if err != nil {
			return nil, errRow(at, "%v", err)
		}
		out = append(out, page[4:4+min(size-len(out), u-4)]...)
		next = binary.BigEndian.Uint32(page)
	}
	return out, nil
}

// columns splits a row. Columns that are not complete in body are truncated.
func columns(body []byte, size int, at Place) ([]any, error) {
	head, k := varint(body)
	if k == 0 || head < uint64(k) || head > uint64(len(body)) || head > 1000 {
		return nil, errRow(at, "no columns")
	}
	var cols []any
	rest := body[head:]
	total := int(head)
	for types := body[k:head]; len(types) > 0; {
		t, n := varint(types)
		if n == 0 || t > 2*mostRow+13 || t == 10 || t == 11 {
			return nil, errRow(at, "column %d is of kind %d", len(cols), t)
		}
		types = types[n:]
		width := int(t-12) / 2
		if t < 12 {
			width = [...]int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[t]
		}
		if total += width; total > size {
			return nil, errRow(at, "columns of %d bytes", total)
		}
		b := rest[:min(width, len(rest))]
		rest = rest[len(b):]
		cols = append(cols, value(t, b))
	}
	if total != size {
		return nil, errRow(at, "columns of %d bytes in %d", total, size)
	}
	return cols, nil
}

func value(t uint64, b []byte) any {
	switch {
	case t == 0:
		return nil
	case t == 8, t == 9:
		return int64(t - 8)
	case t <= 7:
		var n int64
		for i, c := range b {
			if i == 0 {
				n = int64(int8(c))
				continue
			}
			n = n<<8 | int64(c)
		}
		return n
	case t%2 == 0:
		return b
	default:
		return string(b)
	}
}

// varint reads SQLite's variable-length integer: at most nine bytes, big-endian. The width is 0 if there is none.
func varint(b []byte) (v uint64, width int) {
	for i := range min(9, len(b)) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
