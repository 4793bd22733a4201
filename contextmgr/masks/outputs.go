package masks

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// content returns a content, and writes its copy again if that is missing or different.
func (s *Set) content(m Mask) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var content []byte
	err := s.use(func(_ *private.Folder, log *os.File, outputs *private.Folder) (err error) {
		if content, err = s.read(log, m); err == nil && filepath.Dir(m.File) == s.dir && !same(outputs, m) {
			_ = output(outputs, filepath.Base(m.File), content) // the content is there all the same
		}
		return err
	})
	return content, err
}

// stored is content without the copy. The caller holds mu.
func (s *Set) stored(m Mask) (content []byte, err error) {
	err = s.use(func(_ *private.Folder, log *os.File, _ *private.Folder) (err error) {
		content, err = s.read(log, m)
		return err
	})
	return content, err
}

// read reads a content from the log. The caller holds mu.
func (s *Set) read(log *os.File, m Mask) ([]byte, error) {
	at, ok := s.where[m.ID]
	if !ok {
		return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, thread.ErrNotFound)
	}
	line := make([]byte, at.size)
	if _, err := log.ReadAt(line, at.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, err)
	}
	r, err := parse(line[:max(0, len(line)-1)])
	if err != nil {
		return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, err)
	}
	for _, found := range r.Masks {
		if found.ID == m.ID && sumOf(found.Content) == m.Sum {
			return found.Content, nil
		}
	}
	return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, thread.ErrDamaged)
}

// mend writes the thread's own outputs again that are missing or of another size.
func (s *Set) mend(log *os.File, outputs *private.Folder) error {
	for _, id := range s.order {
		m := s.masks[id]
		if filepath.Dir(m.File) != s.dir || sized(outputs, m) {
			continue
		}
		content, err := s.read(log, m)
		if err == nil {
			err = output(outputs, filepath.Base(m.File), content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sized reports whether the copy of a content has its size.
func sized(outputs *private.Folder, m Mask) bool {
	file, err := outputs.File(filepath.Base(m.File), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	return err == nil && info.Size() == m.Bytes
}

// same reports whether the copy of a content is the content.
func same(outputs *private.Folder, m Mask) bool {
	b, err := outputs.Read(filepath.Base(m.File), m.Bytes+1)
	return err == nil && sumOf(b) == m.Sum
}

// output writes a copy, which appears whole. It is not synced: the log has the content.
func output(outputs *private.Folder, name string, content []byte) error {
	temp := ".new-" + rand.Text()
	file, err := outputs.File(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(0o400)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = outputs.Replace(temp, name)
	}
	if err != nil {
		if rerr := outputs.Remove(temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return fmt.Errorf("write a masked content: %w", err)
	}
	return nil
}
