package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"
)

// rowsHeader has the number of rows of a response that is a list.
const rowsHeader = "Orchestrator-Rows"

// maxRows is for how many rows room is made before they are there; a longer list is read as a whole.
const maxRows = 1 << 20

// WriteResponse writes the response of a call as JSON. A list goes out row by row, a line each, so that the client reads
// the first rows while the others are written.
func WriteResponse(w http.ResponseWriter, resp any) error {
	w.Header().Set("Content-Type", "application/json")
	list := reflect.ValueOf(resp)
	if !isList(list) || list.IsNil() {
		return json.NewEncoder(w).Encode(resp)
	}
	w.Header().Set(rowsHeader, strconv.Itoa(list.Len()))
	out := bufio.NewWriterSize(w, 32<<10)
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

// ReadResponse reads what WriteResponse wrote into resp. The rows of a list are read as they come, on all processors, each
// into its place.
func ReadResponse(res *http.Response, resp any) error {
	n, err := strconv.Atoi(res.Header.Get(rowsHeader))
	list := reflect.ValueOf(resp).Elem()
	if err != nil || n < 0 || n > maxRows || !isList(list) {
		return json.NewDecoder(res.Body).Decode(resp)
	}
	list.Set(reflect.MakeSlice(list.Type(), n, n))
	var rows errgroup.Group
	rows.SetLimit(runtime.GOMAXPROCS(0))
	defer rows.Wait() //nolint:errcheck // after an error of the reader
	in := bufio.NewReaderSize(res.Body, 64<<10)
	for at := 0; at < n; at += batch {
		some, err := readBatch(in, at, min(batch, n-at))
		if err != nil {
			return err
		}
		rows.Go(func() error { return decodeBatch(some, list, at) })
	}
	if n == 0 {
		return json.NewDecoder(in).Decode(resp)
	}
	if end, err := in.ReadByte(); err != nil || end != ']' {
		return errors.Join(cut(err), fmt.Errorf("the list does not end after %d rows", n))
	}
	_, err = in.ReadByte() // the new line, so that the connection can be used again
	return errors.Join(rows.Wait(), cut(err))
}

// batch is how many rows are decoded by one goroutine.
const batch = 128

// readBatch reads rows, each a line behind its [ or comma.
func readBatch(in *bufio.Reader, at, n int) ([][]byte, error) {
	rows := make([][]byte, 0, n)
	for i := range n {
		begin, err := in.ReadByte()
		if err != nil {
			return nil, cut(err)
		}
		if want := separator(at + i); begin != want {
			return nil, fmt.Errorf("row %d begins with %q, not with %q", at+i, begin, want)
		}
		row, err := in.ReadBytes('\n')
		if err != nil {
			return nil, cut(err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// decodeBatch decodes rows into their places in a list.
func decodeBatch(rows [][]byte, list reflect.Value, at int) error {
	for i, row := range rows {
		if err := json.Unmarshal(row, list.Index(at+i).Addr().Interface()); err != nil {
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
