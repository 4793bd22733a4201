package pty

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"orchestrator/thread"
)

const (
	// readSize is the most that one read returns; Linux gives at most 4 KB of a pty at a time.
	readSize = 8 << 10
	// maxPending is how much input a program may leave unread before writes are refused.
	maxPending = 1 << 20
	// maxLate is how much is read after the wait for output has ended: what an ended program left behind may print for
	// ever.
	maxLate = 1 << 20
)

// ErrClogged is returned when a program does not read its input.
var ErrClogged = errors.New("program does not read its input")

// terminal is our end of a pseudo-terminal.
type terminal struct {
	master *os.File

	// inHand is set from before output is read until it has been handled.
	inHand atomic.Bool

	// mu guards the rest. No lock is taken under it.
	mu      sync.Mutex
	pending []byte
	sending int  // bytes removed from pending that may not have been written yet
	writing bool // a goroutine is writing pending
	closed  bool
}

// openTerminal returns our end of a new pseudo-terminal, and the program's. Ours is in non-blocking mode, so that the
// poller serves reads instead of one thread each.
func openTerminal(cols, rows int) (t *terminal, slave *os.File, err error) {
	m, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer m.Close()
	fd, err := dupNonblock(m)
	if err != nil {
		_ = slave.Close() // the error that counts is err
		return nil, nil, err
	}
	t = &terminal{master: os.NewFile(uintptr(fd), "ptmx")}
	if err := t.setSize(cols, rows); err != nil {
		_ = slave.Close() // the error that counts is err
		_ = t.master.Close()
		return nil, nil, err
	}
	return t, slave, nil
}

// dupNonblock returns a non-blocking, close-on-exec duplicate of a descriptor.
func dupNonblock(f *os.File) (fd int, err error) {
	err = control(f, func(old uintptr) error {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.SetNonblock(fd, true)
	})
	return fd, err
}

// setSize sets the terminal's size; the foreground group gets SIGWINCH if it changed.
func (t *terminal) setSize(cols, rows int) error {
	ws := &unix.Winsize{Col: clampSize(cols), Row: clampSize(rows)}
	return control(t.master, func(fd uintptr) error { return unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, ws) })
}

func clampSize(n int) uint16 { return uint16(min(max(n, 1), 10_000)) }

// control runs a function on a file's descriptor without removing it from the poller, as Fd would.
func control(f *os.File, do func(uintptr) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(fd) }); err != nil {
		return err
	}
	return inner
}

// read passes the output on until the other end has been closed everywhere, or stopReading.
func (t *terminal) read(turn func() (end func()), output func([]byte)) {
	raw, err := t.master.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, readSize)
	for t.readOnce(raw, buf, turn, output) {
	}
	// On a busy machine the wait may have been ended while there is still something to read.
	for read := 0; read < maxLate; {
		n := 0
		if err := raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buf) }); err != nil || n <= 0 {
			return
		}
		output(buf[:n])
		read += n
	}
}

// readOnce waits for output and handles it; false if there will be no more.
func (t *terminal) readOnce(raw syscall.RawConn, buf []byte, turn func() (end func()), output func([]byte)) bool {
	n := 0
	var failed error
	end := func() {}
	defer t.inHand.Store(false)
	err := raw.Read(func(fd uintptr) bool {
		if turn != nil {
			end = turn()
		}
		t.inHand.Store(true)
		for {
			n, failed = unix.Read(int(fd), buf)
			switch {
			case errors.Is(failed, unix.EINTR):
				continue
			case errors.Is(failed, unix.EAGAIN):
				t.inHand.Store(false)
				end()
				end = func() {}
				return false // until there is something
			}
			return true
		}
	})
	defer func() { end() }()
	if err != nil || failed != nil || n <= 0 { // EIO when the other end is open nowhere
		return false
	}
	output(buf[:n])
	return true
}

// unread reports whether the program has printed what has not been handled yet.
func (t *terminal) unread() bool {
	waiting := false
	err := control(t.master, func(fd uintptr) error {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) //nolint:gosec // descriptors are small
		waiting = n > 0
		return err
	})
	return err != nil || waiting || t.inHand.Load() // in this order: what is read between the two is in hand
}

// stopReading ends the wait for output; read then reads what is there.
func (t *terminal) stopReading() {
	_ = t.master.SetReadDeadline(time.Now()) // a pty has deadlines; if not, hangUp ends the read
}

// hangUp closes the terminal and drops the input that was not written.
func (t *terminal) hangUp() {
	t.mu.Lock()
	t.closed, t.pending = true, nil
	t.mu.Unlock()
	_ = t.master.Close() // nothing needs to be flushed
}

// write sends input. It does not block: what the program does not read now is kept, up to a limit, and sent in order as
// it reads.
func (t *terminal) write(b []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return thread.ErrNotRunning
	case t.sending+len(t.pending)+len(b) > maxPending:
		return ErrClogged
	case t.writing:
		t.pending = append(t.pending, b...)
		return nil
	}
	n, err := tryWrite(t.master, b)
	if err != nil {
		return err
	}
	if n < len(b) {
		t.pending = append(t.pending, b[n:]...)
		t.writing = true
		go t.writeOn()
	}
	return nil
}

// writeOn sends what is pending and ends.
func (t *terminal) writeOn() {
	for {
		t.mu.Lock()
		b := t.pending
		t.pending, t.sending = nil, len(b)
		if len(b) == 0 || t.closed {
			t.writing = false
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		if _, err := t.master.Write(b); err != nil {
			t.mu.Lock()
			t.writing, t.pending, t.sending = false, nil, 0 // the terminal is gone
			t.mu.Unlock()
			return
		}
	}
}

// tryWrite writes what the terminal accepts now.
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
