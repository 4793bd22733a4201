package masks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
)

// maxNamed is how many tokens an error names.
const maxNamed = 5

// Open returns the mask with a token, and its content, which was checked. A copy that is missing or different is
// mended; the error is thread.ErrDamaged if the content is lost, and thread.ErrNotFound if the token is unknown.
func (s *Store) Open(token thread.Token) (Mask, []byte, error) {
	s.shelf.writer.sweeping.RLock()
	defer s.shelf.writer.sweeping.RUnlock()
	m, err := s.lookUp(token)
	if err != nil {
		return m, nil, err
	}
	content, err := s.shelf.get(m)
	return m, content, err
}

// Find returns the mask of a token, or of the only visible one that begins with ref. may reports whose contents are
// visible. Only tokens with a copy are found by their beginning.
func (s *Store) Find(ref string, may func(home thread.ID) bool) (Mask, error) {
	t, whole, err := thread.ParseToken(ref)
	if err != nil {
		return Mask{}, err
	}
	s.shelf.writer.sweeping.RLock()
	defer s.shelf.writer.sweeping.RUnlock()
	if whole {
		m, err := s.lookUp(t)
		if err == nil && !may(m.Home) {
			return Mask{}, unknown(t)
		}
		return m, err
	}
	found, err := s.begin(t, may)
	switch {
	case err != nil:
		return Mask{}, err
	case len(found) == 0:
		return Mask{}, fmt.Errorf("no token of a masked content begins with %s: %w", t, thread.ErrNotFound)
	case len(found) == 1:
		return s.lookUp(found[0])
	}
	names := make([]string, 0, maxNamed+1)
	for _, other := range found[:min(len(found), maxNamed)] {
		names = append(names, string(other))
	}
	if more := len(found) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return Mask{}, thread.Hint(fmt.Errorf("%d tokens begin with %s: %s: %w", len(found), t, strings.Join(names, ", "),
		thread.ErrInvalid), "give more digits")
}

// begin returns the visible tokens that begin with another one.
func (s *Store) begin(t thread.Token, may func(home thread.ID) bool) ([]thread.Token, error) {
	ids, err := s.shelf.copies.threads()
	if err != nil {
		return nil, err
	}
	var found []thread.Token
	for _, id := range ids {
		files, err := s.shelf.copies.files(id)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 || !may(id) {
			continue
		}
		for _, f := range files {
			if strings.HasPrefix(string(f.token), string(t)) {
				found = append(found, f.token)
			}
		}
	}
	return found, nil
}

func unknown(t thread.Token) error {
	return fmt.Errorf("nothing is masked as %s: %w", t, thread.ErrNotFound)
}

// lookUp returns the mask with a token. The caller holds sweeping.
func (s *Store) lookUp(t thread.Token) (Mask, error) {
	for _, set := range s.loaded() {
		if m, ok := set.Named(t); ok {
			return m, nil
		}
	}
	ids, err := s.shelf.copies.threads()
	if err != nil {
		return Mask{}, err
	}
	slices.SortStableFunc(ids, func(a, b thread.ID) int { return s.copiesOf(b, t) - s.copiesOf(a, t) })
	var errs []error // of threads that cannot be read: others may have it all the same
	for _, id := range ids {
		m, ok, err := s.logged(id, t)
		if ok {
			return m, nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("look up %s in thread %s: %w", t, id, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Mask{}, err
	}
	return Mask{}, unknown(t)
}

// copiesOf returns 1 if a thread has the copy of a content, otherwise 0.
func (s *Store) copiesOf(id thread.ID, t thread.Token) int {
	outputs, err := s.shelf.copies.outputs(id)
	if err != nil {
		return 0
	}
	defer outputs.Close()
	if has, err := hasCopy(outputs, t); err != nil || !has {
		return 0
	}
	return 1
}

// logged returns the mask with a token from a thread's log.
func (s *Store) logged(id thread.ID, t thread.Token) (m Mask, ok bool, err error) {
	x := newIndex()
	_, err = s.shelf.copies.scanLog(id, func(r record) {
		if r.Kind == kindMask && r.Mask.Token == t {
			x.apply(id, r, s.shelf.copies.path)
		}
	}, &sealing{})
	m, ok = x.named(t)
	return m, ok, err
}
