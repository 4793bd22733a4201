package pty

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxLate is how much is read after the wait for output has ended: what an ended program left behind may print for
// ever.
const maxLate = 1 << 20

// source is the end of ours from which a program's output is read.
type source struct {
	file *os.File
	size int // the most that one read returns

	// inHand is set from before output is read until it has been handled.
	inHand atomic.Bool
}

// read passes the output on until the other end has been closed everywhere, or stopReading.
func (s *source) read(turn func() (end func()), output func([]byte)) {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, s.size)
	for s.readOnce(raw, buf, turn, output) {
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
func (s *source) readOnce(raw syscall.RawConn, buf []byte, turn func() (end func()), output func([]byte)) bool {
	n := 0
	var failed error
	end := func() {}
	defer s.inHand.Store(false)
	err := raw.Read(func(fd uintptr) bool {
		if turn != nil {
			end = turn()
		}
		s.inHand.Store(true)
		for {
			n, failed = unix.Read(int(fd), buf)
			switch {
			case errors.Is(failed, unix.EINTR):
				continue
			case errors.Is(failed, unix.EAGAIN):
				s.inHand.Store(false)
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
func (s *source) unread() bool {
	waiting := false
	err := control(s.file, func(fd uintptr) error {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) //nolint:gosec // descriptors are small
		waiting = n > 0
		return err
	})
	return err != nil || waiting || s.inHand.Load() // in this order: what is read between the two is in hand
}

// stopReading ends the wait for output; read then reads what is there.
func (s *source) stopReading() {
	_ = s.file.SetReadDeadline(time.Now()) // pipes and terminals have deadlines; if not, closing it ends the read
}

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
