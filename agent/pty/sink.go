package pty

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"orchestrator/thread"
)

// ErrClogged is returned when a program does not read its input.
var ErrClogged = errors.New("program does not read its input")

// sink is the end of ours into which a program's input is written.
type sink struct {
	file *os.File
	most int // how much input a program may leave unread before writes are refused

	// mu guards the rest. No lock is taken under it.
	mu      sync.Mutex
	pending []byte
	sending int  // bytes removed from pending that may not have been written yet
	writing bool // a goroutine is writing pending
	closed  bool // nothing more is taken
	last    bool // the file is closed once pending is sent
}

// write sends input. It does not block: what the program does not read now is kept, up to a limit, and sent in order as
// it reads.
func (k *sink) write(b []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed, k.last:
		return thread.ErrNotRunning
	case k.sending+len(k.pending)+len(b) > k.most:
		return ErrClogged
	case k.writing:
		k.pending = append(k.pending, b...)
		return nil
	}
	n, err := tryWrite(k.file, b)
	if err != nil {
		return err
	}
	if n < len(b) {
		k.pending = append(k.pending, b[n:]...)
		k.writing = true
		go k.writeOn()
	}
	return nil
}

// writeOn sends what is pending and ends.
func (k *sink) writeOn() {
	for {
		k.mu.Lock()
		b := k.pending
		k.pending, k.sending = nil, len(b)
		if len(b) == 0 || k.closed {
			k.writing = false
			if k.last {
				k.shut()
			}
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		if _, err := k.file.Write(b); err != nil {
			k.mu.Lock()
			k.writing, k.pending, k.sending = false, nil, 0 // the other end is gone
			if k.last {
				k.shut()
			}
			k.mu.Unlock()
			return
		}
	}
}

// end takes nothing more, and closes the file once what is kept has been sent.
func (k *sink) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = true
	if !k.writing {
		k.shut()
	}
}

// close drops what has not been written, and closes the file.
func (k *sink) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shut()
}

// shut is close. mu is held.
func (k *sink) shut() {
	if !k.closed {
		k.closed, k.pending = true, nil
		_ = k.file.Close() // nothing needs to be flushed
	}
}

// tryWrite writes what the other end accepts now.
func tryWrite(f *os.File, b []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var inner error
	err = raw.Write(func(fd uintptr) bool {
		for n < len(b) {
			m, err := unix.Write(int(fd), b[n:])
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case errors.Is(err, unix.EAGAIN):
				return true
			case err != nil:
				inner = err
				return true
			case m == 0:
				inner = io.ErrShortWrite
				return true
			}
			n += m
		}
		return true
	})
	if err != nil {
		return n, err
	}
	return n, inner
}
