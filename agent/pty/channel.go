package pty

import (
	"os"
	"syscall"
)

// channel is our end of what a program reads and prints.
type channel interface {
	// read passes the output on until the other end has been closed everywhere, or stopReading.
	read(spec Spec)
	// stopReading ends the wait for output; read then reads what is there.
	stopReading()
	// unread reports whether the program has printed what has not been handled yet.
	unread() bool
	// write sends input. It does not block: what the program does not read now is kept, up to a limit, and sent in order
	// as it reads.
	write(b []byte) error
	// closeInput ends the input, after what was written.
	closeInput() error
	setSize(cols, rows int) error
	// hangUp drops the input that was not written, and ends the output.
	hangUp()
	// drop closes what no program was started on.
	drop()
}

// open returns our end, and how to give the program its own, which the caller closes.
func open(spec Spec) (ours channel, theirs []*os.File, attr *os.ProcAttr, err error) {
	attr = &os.ProcAttr{Dir: spec.Dir, Sys: &syscall.SysProcAttr{Setsid: true}}
	if spec.Piped {
		p, theirs, err := openPipes()
		if err != nil {
			return nil, nil, nil, err
		}
		attr.Files = theirs
		return p, theirs, attr, nil
	}
	t, slave, err := openTerminal(spec.Cols, spec.Rows)
	if err != nil {
		return nil, nil, nil, err
	}
	attr.Files = []*os.File{slave, slave, slave}
	attr.Sys.Setctty = true
	return t, []*os.File{slave}, attr, nil
}
