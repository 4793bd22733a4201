package pty

import (
	"errors"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const (
	// readSize is the most that one read of a terminal returns; Linux gives at most 4 KB of one at a time.
	readSize = 8 << 10
	// maxPending is how much input a program in a terminal may leave unread before writes are refused.
	maxPending = 1 << 20
)

// terminal is our end of a pseudo-terminal.
type terminal struct {
	out *source
	in  *sink // of the same file
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
	master := os.NewFile(uintptr(fd), "ptmx")
	t = &terminal{out: &source{file: master, size: readSize}, in: &sink{file: master, most: maxPending}}
	if err := t.setSize(cols, rows); err != nil {
		_ = slave.Close() // the error that counts is err
		_ = master.Close()
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
	return control(t.out.file, func(fd uintptr) error { return unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, ws) })
}

func clampSize(n int) uint16 { return uint16(min(max(n, 1), 10_000)) }

func (t *terminal) read(spec Spec)       { t.out.read(spec.Turn, spec.Output) }
func (t *terminal) stopReading()         { t.out.stopReading() }
func (t *terminal) unread() bool         { return t.out.unread() }
func (t *terminal) write(b []byte) error { return t.in.write(b) }
func (t *terminal) closeInput() error    { return errors.New("a terminal stays open for input") }
func (t *terminal) hangUp()              { t.in.close() }
func (t *terminal) drop()                { t.in.close() }
