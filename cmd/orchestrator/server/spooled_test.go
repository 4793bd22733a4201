package server

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestSpooled: all of it comes back, however much, and what is small needs no file.
func TestSpooled(t *testing.T) {
	full := errors.New("no space")
	small := spooled{room: func() (*os.File, error) { return nil, full }}
	if _, err := small.Write(make([]byte, mostSpooled)); err != nil {
		t.Error(err)
	}
	if _, err := small.Write([]byte("x")); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	large := spooled{room: func() (*os.File, error) { return os.Create(filepath.Join(t.TempDir(), "room")) }}
	defer large.close()
	var want bytes.Buffer
	for i := range 7 {
		part := bytes.Repeat([]byte{byte('a' + i)}, 1<<20)
		want.Write(part)
		if _, err := large.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		var got bytes.Buffer
		if err := large.copy(&got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d bytes of %d, %v", got.Len(), want.Len(), err)
		}
	}
}
