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
)

// content returns a content, and writes its copy again if that is missing or different.
func (s *Set) content(m Mask) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, err := s.read(m)
	if err != nil {
		return nil, err
	}
	if filepath.Dir(m.File) == s.outputs.Path() && !s.same(m) {
		_ = s.write(filepath.Base(m.File), content) // the content is there all the same
	}
	return content, nil
}

// read reads a content from the log. The caller holds mu.
func (s *Set) read(m Mask) ([]byte, error) {
	at, ok := s.where[m.ID]
	if !ok {
		return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, thread.ErrNotFound)
	}
	line := make([]byte, at.size)
	if _, err := s.file.ReadAt(line, at.at); err != nil && !errors.Is(err, io.EOF) {
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
func (s *Set) mend() error {
	for _, id := range s.order {
		m := s.masks[id]
		if filepath.Dir(m.File) != s.outputs.Path() || s.sized(m) {
			continue
		}
		content, err := s.read(m)
		if err == nil {
			err = s.write(filepath.Base(m.File), content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sized reports whether the copy of a content has its size.
func (s *Set) sized(m Mask) bool {
	file, err := s.outputs.File(filepath.Base(m.File), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	return err == nil && info.Size() == m.Bytes
}

// same reports whether the copy of a content is the content.
func (s *Set) same(m Mask) bool {
	b, err := s.outputs.Read(filepath.Base(m.File), m.Bytes+1)
	return err == nil && sumOf(b) == m.Sum
}

// write writes a copy, which appears whole. It is not synced: the log has the content.
func (s *Set) write(name string, content []byte) error {
	temp := ".new-" + rand.Text()
	file, err := s.outputs.File(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(0o400)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = s.outputs.Replace(temp, name)
	}
	if err != nil {
		if rerr := s.outputs.Remove(temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return fmt.Errorf("write a masked content: %w", err)
	}
	return nil
}
