package server

import (
	"bytes"
	"io"
	"os"
)

// mostSpooled is how many bytes are kept in memory: what most threads have. A full disk keeps nobody from taking those along.
const mostSpooled = 4 << 20

// spooled is what is written once and then read: in memory, and in a file without a name from mostSpooled bytes on.
type spooled struct {
	room func() (*os.File, error)
	head bytes.Buffer
	file *os.File // nil while all of it is in memory
}

func (s *spooled) Write(p []byte) (int, error) {
	if s.file == nil && s.head.Len()+len(p) <= mostSpooled {
		return s.head.Write(p)
	}
	if s.file == nil {
		f, err := s.room()
		if err != nil {
			return 0, err
		}
		s.file = f
	}
	return s.file.Write(p)
}

// copy writes all of it.
func (s *spooled) copy(w io.Writer) error {
	_, err := w.Write(s.head.Bytes())
	if err == nil && s.file != nil {
		if _, err = s.file.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(w, s.file)
		}
	}
	return err
}

func (s *spooled) close() {
	if s.file != nil {
		_ = s.file.Close() // it has no name, and nobody reads it again
	}
}
