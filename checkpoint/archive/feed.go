package archive

import (
	"errors"
	"io"
)

// feed passes the entries of a folder on as one stream. The zero value without read drops them.
type feed struct {
	read   func(io.Reader) error
	writer *io.PipeWriter // nil until there is an entry
	result chan error
}

// take passes an entry on.
func (f *feed) take(b []byte) error {
	if f.read == nil {
		return nil
	}
	if f.writer == nil {
		r, w := io.Pipe()
		f.writer, f.result = w, make(chan error, 1)
		go func() {
			err := f.read(r)
			r.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // do not wait for what it did not read
			f.result <- err
		}()
	}
	if _, err := f.writer.Write(b); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return nil
}

// end ends the stream, as cut off if err is not nil, and waits until it was read. It returns the reader's error.
func (f *feed) end(err error) error {
	if f.writer == nil {
		return nil
	}
	f.writer.CloseWithError(err) // nil is the end of the stream
	f.writer = nil
	return <-f.result
}
