// Package carried frames the entries of an export: the size of a description, the description as JSON, and data whose
// size the description says.
package carried

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"orchestrator/thread"
)

// Write writes an entry.
func Write(w io.Writer, description, data []byte) error {
	for _, b := range [][]byte{binary.AppendUvarint(nil, uint64(len(description))), description, data} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// ReadDescription reads the next entry up to its data. A description must be of at most so many bytes, and one value
// without unknown fields. The error is io.EOF after the last entry, and thread.ErrInvalid for what Write has not written.
func ReadDescription[T any](in *bufio.Reader, most uint64) (description T, err error) {
	size, err := binary.ReadUvarint(in)
	if errors.Is(err, io.EOF) {
		return description, err
	}
	if err != nil || size > most {
		return description, thread.Kindf(thread.ErrInvalid, "it does not begin with a size of at most %d bytes", most)
	}
	raw, err := io.ReadAll(io.LimitReader(in, int64(size))) // what is not there takes no memory
	if err != nil || uint64(len(raw)) < size {
		return description, thread.Kindf(thread.ErrInvalid, "it ends early, after %d of %d bytes", len(raw), size)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&description); err != nil {
		return description, fmt.Errorf("%s: %w", err.Error(), thread.ErrInvalid) // wrapped, an EOF would be the end
	}
	if d.More() {
		return description, thread.Kindf(thread.ErrInvalid, "more than one value")
	}
	return description, nil
}
