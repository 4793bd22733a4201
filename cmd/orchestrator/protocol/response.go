package protocol

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"orchestrator/cmd/orchestrator/protocol/compact"
)

const (
	// rowsHeader has the number of rows of a response that is a list.
	rowsHeader = "Orchestrator-Rows"
	// layoutHeader of a request has the layout of the list that the client waits for; of a response, that of its rows, which
	// are then compact. A server of another build may have another layout, and sends JSON.
	layoutHeader = "Orchestrator-Layout"
)

// maxRows is for how many rows room is made before they are there; a longer list is read as a whole.
const maxRows = 1 << 20

// maxRow limits the size of a compact row.
const maxRow = 64 << 20

// AskCompact tells in the header of a request how the response can be read besides as JSON. resp is a pointer to it.
func AskCompact(h http.Header, resp any) {
	if resp == nil {
		return
	}
	if c := rowsOf(reflect.TypeOf(resp).Elem()); c != nil {
		h.Set(layoutHeader, c.Layout())
	}
}

// rowsOf returns the codec for the rows of a list, nil if there is none.
func rowsOf(t reflect.Type) *compact.Codec {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	c, err := compact.New(t.Elem())
	if err != nil {
		return nil // JSON carries it
	}
	return c
}

// WriteResponse writes the response of a call as JSON. A list goes out row by row, a line each, so that the client reads
// the first rows while the others are written; to a client that asked for its layout the rows are compact.
func WriteResponse(w http.ResponseWriter, asked http.Header, resp any) error {
	list := reflect.ValueOf(resp)
	if !isList(list) || list.IsNil() {
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(resp)
	}
	w.Header().Set(rowsHeader, strconv.Itoa(list.Len()))
	out := bufio.NewWriterSize(w, 32<<10)
	if layout := asked.Get(layoutHeader); layout != "" {
		if c := rowsOf(list.Type()); c != nil && c.Layout() == layout {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set(layoutHeader, layout)
			return writeCompact(out, c, list)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	rows := json.NewEncoder(out)
	for i := range list.Len() {
		if err := out.WriteByte(separator(i)); err != nil {
			return fmt.Errorf("send a list: %w", err)
		}
		if err := rows.Encode(list.Index(i).Addr().Interface()); err != nil {
			return fmt.Errorf("send row %d of a list: %w", i, err)
		}
	}
	end := "]\n"
	if list.Len() == 0 {
		end = "[]\n"
	}
	if _, err := out.WriteString(end); err != nil {
		return fmt.Errorf("send a list: %w", err)
	}
	return out.Flush()
}

// writeCompact writes rows, each behind its length.
func writeCompact(out *bufio.Writer, c *compact.Codec, list reflect.Value) error {
	var row, length []byte
	for i := range list.Len() {
		row = c.Append(row[:0], list.Index(i))
		length = binary.AppendUvarint(length[:0], uint64(len(row)))
		if _, err := out.Write(length); err != nil {
			return fmt.Errorf("send a list: %w", err)
		}
		if _, err := out.Write(row); err != nil {
			return fmt.Errorf("send a list: %w", err)
		}
	}
	return out.Flush()
}

// ReadResponse reads what WriteResponse wrote into resp. The rows of a list are read as they come, on all processors, each
// into its place.
func ReadResponse(res *http.Response, resp any) error {
	n, err := strconv.Atoi(res.Header.Get(rowsHeader))
	list := reflect.ValueOf(resp).Elem()
	form, known := formOf(res.Header, list.Type())
	if !known {
		return errors.New("it has a form that was not asked for")
	}
	if err != nil || n < 0 || n > maxRows || !isList(list) {
		if res.Header.Get(layoutHeader) != "" {
			return fmt.Errorf("it has %q rows", res.Header.Get(rowsHeader))
		}
		return json.NewDecoder(res.Body).Decode(resp)
	}
	list.Set(reflect.MakeSlice(list.Type(), n, n))
	var rows errgroup.Group
	rows.SetLimit(runtime.GOMAXPROCS(0))
	defer rows.Wait() //nolint:errcheck // after an error of the reader
	in := bufio.NewReaderSize(res.Body, 64<<10)
	var buf []byte
	for at := 0; at < n; at += batch {
		some, whole, err := readBatch(buf, in, form, at, min(batch, n-at))
		buf = whole[:0]
		if err != nil {
			return err
		}
		rows.Go(func() error { return decodeBatch(form, some, list, at) })
	}
	if err := form.end(in, n, resp); err != nil {
		return err
	}
	return rows.Wait()
}

// form is how the rows of a list are sent.
type form interface {
	// row reads one row and appends it to what was read before.
	row(before []byte, in *bufio.Reader, i int) ([]byte, error)
	// decode sets a value to what a row has.
	decode(row string, v reflect.Value) error
	// end reads what is behind n rows, so that the connection can be used again.
	end(in *bufio.Reader, n int, resp any) error
}

// formOf returns the form of a response; false for a layout that is not the list's.
func formOf(h http.Header, list reflect.Type) (form, bool) {
	layout := h.Get(layoutHeader)
	if layout == "" {
		return lines{}, true
	}
	c := rowsOf(list)
	if c == nil || c.Layout() != layout {
		return nil, false
	}
	return dense{c}, true
}

// lines is JSON, a line for each row behind its [ or comma.
type lines struct{}

func (lines) row(before []byte, in *bufio.Reader, i int) ([]byte, error) {
	begin, err := in.ReadByte()
	if err != nil {
		return nil, cut(err)
	}
	if want := separator(i); begin != want {
		return nil, fmt.Errorf("row %d begins with %q, not with %q", i, begin, want)
	}
	row, err := in.ReadBytes('\n')
	return append(before, row...), cut(err)
}

func (lines) decode(row string, v reflect.Value) error {
	return json.Unmarshal([]byte(row), v.Addr().Interface())
}

func (lines) end(in *bufio.Reader, n int, resp any) error {
	if n == 0 {
		return json.NewDecoder(in).Decode(resp)
	}
	if end, err := in.ReadByte(); err != nil || end != ']' {
		return errors.Join(cut(err), fmt.Errorf("the list does not end after %d rows", n))
	}
	_, err := in.ReadByte()
	return cut(err)
}

// dense is compact, a length before each row.
type dense struct{ codec *compact.Codec }

func (dense) row(before []byte, in *bufio.Reader, i int) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, cut(err)
	}
	if n > maxRow {
		return nil, fmt.Errorf("row %d has %d bytes", i, n)
	}
	all := slices.Grow(before, int(n))[:len(before)+int(n)]
	_, err = io.ReadFull(in, all[len(before):])
	return all, cut(err)
}

func (d dense) decode(row string, v reflect.Value) error { return d.codec.Read(row, v) }

func (dense) end(in *bufio.Reader, n int, _ any) error {
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.Join(err, fmt.Errorf("the list does not end after %d rows", n))
	}
	return nil
}

// batch is how many rows are decoded by one goroutine.
const batch = 128

// readBatch reads n rows into a buffer, which it returns, and copies them as parts of one string.
func readBatch(all []byte, in *bufio.Reader, f form, at, n int) ([]string, []byte, error) {
	ends := make([]int, n)
	for i := range n {
		var err error
		if all, err = f.row(all, in, at+i); err != nil {
			return nil, nil, err
		}
		ends[i] = len(all)
	}
	text, begin, rows := string(all), 0, make([]string, n)
	for i, end := range ends {
		rows[i], begin = text[begin:end], end
	}
	return rows, all, nil
}

// decodeBatch decodes rows into their places in a list.
func decodeBatch(f form, rows []string, list reflect.Value, at int) error {
	for i, row := range rows {
		if err := f.decode(row, list.Index(at+i)); err != nil {
			return fmt.Errorf("row %d: %w", at+i, err)
		}
	}
	return nil
}

// separator is the byte before a row.
func separator(row int) byte {
	if row == 0 {
		return '['
	}
	return ','
}

// cut says that a response ended before its end.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// isList reports whether a value is a JSON array of its elements.
func isList(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 &&
		!v.Type().Implements(reflect.TypeFor[json.Marshaler]())
}
