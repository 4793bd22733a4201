package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
)

// maxNamed is how many tokens an error names.
const maxNamed = 5

// Find returns the entry of a token, or the only visible one whose token begins with ref. may reports what is visible.
func (s *Store) Find(ref string, may func(thread.Staged) bool) (thread.Staged, error) {
	t, whole, err := thread.ParseToken(ref)
	if err != nil {
		return thread.Staged{}, err
	}
	if _, missing := s.read(t.Digits()); whole && !errors.Is(missing, fs.ErrNotExist) {
		d, err := s.lookUp(t)
		return d.Staged, err
	}
	all, err := s.list(t.Digits(), may) // a whole one may be the beginning of a longer one
	if err != nil {
		return thread.Staged{}, err
	}
	switch len(all) {
	case 1:
		return all[0], nil
	case 0:
		if whole {
			return thread.Staged{}, unknown(t)
		}
		return thread.Staged{}, thread.Hint(fmt.Errorf("no token begins with %s: %w", t, thread.ErrNotFound),
			"`orchestrator stage list` lists staged data")
	}
	var names []string
	for _, d := range all[:min(len(all), maxNamed)] {
		names = append(names, string(d.Token))
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return thread.Staged{}, thread.Hint(fmt.Errorf("%d tokens begin with %s: %s: %w", len(all), t,
		strings.Join(names, ", "), thread.ErrInvalid), "give more digits")
}

// List returns the visible entries, newest first. may reports what is visible.
func (s *Store) List(may func(thread.Staged) bool) ([]thread.Staged, error) { return s.list("", may) }

func (s *Store) list(begin string, may func(thread.Staged) bool) ([]thread.Staged, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	find := sync.OnceValues(s.cfg.Pins) // nothing to find as long as nothing is staged
	all := []thread.Staged{}
	for _, f := range files {
		digits := digitsOf(f.Name())
		if digits == "" || !strings.HasPrefix(digits, begin) {
			continue
		}
		d, err := s.read(digits)
		if err != nil || !d.Gone.IsZero() || !may(d.Staged) {
			continue // Sweep reports damaged documents
		}
		pins, err := find()
		if err != nil {
			return nil, fmt.Errorf("list staged data: %w", err)
		}
		if s.pinned(&d, pins) || !s.over(d) {
			all = append(all, d.Staged)
		}
	}
	slices.SortStableFunc(all, func(a, b thread.Staged) int { return b.Created.Compare(a.Created) })
	return all, nil
}

// Touch restarts an entry's time to live, with a new one unless ttl is 0. It never makes the entry expire earlier.
func (s *Store) Touch(t thread.Token, ttl time.Duration) (thread.Staged, error) {
	if err := thread.CheckTTL(ttl); err != nil {
		return thread.Staged{}, err
	}
	return s.change(t, func(d *document) error {
		if ttl == 0 {
			ttl = d.TTL
		}
		s.extend(d, ttl)
		return nil
	})
}

// Unstage removes an entry now, even if something needs it.
func (s *Store) Unstage(t thread.Token) error {
	s.documents.Lock()
	defer s.documents.Unlock()
	d, err := s.lookUp(t)
	if err != nil {
		return err
	}
	d.Unstaged = true
	if err := s.remove(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unstage %s: %w", t, explain(err))
	}
	return nil
}
