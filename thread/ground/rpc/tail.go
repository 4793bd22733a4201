package rpc

import (
	"bytes"
	"io"
	"sync"
)

// maxTail is how much of a line that has not ended is kept to be shown.
const maxTail = 2 << 10

// tail reads, and keeps the beginning of the line that has not ended.
type tail struct {
	in io.Reader

	mu   sync.Mutex // guards part; held for moments
	part []byte
}

func (t *tail) Read(b []byte) (int, error) {
	n, err := t.in.Read(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	read := b[:n]
	if at := bytes.LastIndexByte(read, '\n'); at >= 0 {
		t.part, read = t.part[:0], read[at+1:]
	}
	t.part = append(t.part, read[:min(len(read), maxTail-len(t.part))]...)
	return n, err
}

func (t *tail) line() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.part)
}
