package pty

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
