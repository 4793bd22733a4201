package program

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// rawMode turns off the terminal's echo and line editing; restore turns them back on.
func rawMode(f *os.File) (restore func(), err error) {
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, fmt.Errorf("not a terminal: %w", err)
	}
	t := *old
	t.Iflag &^= unix.BRKINT | unix.ICRNL | unix.INPCK | unix.ISTRIP | unix.IXON | unix.INLCR | unix.IGNCR
	t.Lflag &^= unix.ECHO | unix.ICANON | unix.IEXTEN | unix.ISIG
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &t); err != nil {
		return nil, fmt.Errorf("set terminal: %w", err)
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, old) }, nil // it fails if the terminal is gone
}

// width returns the terminal's columns.
func width(f *os.File) int {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 {
		return 80
	}
	return int(ws.Col)
}
