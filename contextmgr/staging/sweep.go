package staging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
)

const (
	// goneFor is how long the document of what is gone stays, and mostGone how many do.
	goneFor  = 24 * time.Hour
	mostGone = 1000
	// newBegin begins the names of documents that are being written.
	newBegin = ".new-"
)

// Swept is what a sweep removed.
type Swept struct {
	Expired   int
	Bytes     int64 // of the expired ones
	Leftovers int   // files that a crash left
}

// Sweep removes what expired and what a crash left. What is pinned, not expired or being written stays; what is wrong
// with a file does not keep it from the others.
func (s *Store) Sweep(ctx context.Context) (Swept, error) {
	var done Swept
	files, err := s.files()
	if err != nil {
		return done, err
	}
	var errs []error
	var gone []document
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		name := f.Name()
		if digits := digitsOf(name); digits != "" {
			d, err := s.read(digits)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				errs = append(errs, err)
			case !d.Gone.IsZero():
				gone = append(gone, d)
			case s.expired(d):
				if removed, err := s.expire(d.Token); err != nil {
					errs = append(errs, err)
				} else if removed {
					done.Expired, done.Bytes = done.Expired+1, done.Bytes+d.Bytes
				}
			}
			continue
		}
		if removed, err := s.leftover(name); err != nil {
			errs = append(errs, err)
		} else if removed {
			done.Leftovers++
		}
	}
	errs = append(errs, s.forget(gone))
	if err := errors.Join(errs...); err != nil {
		return done, fmt.Errorf("clean up what was staged: %w", err)
	}
	return done, nil
}

// expire removes an entry, unless it was used meanwhile.
func (s *Store) expire(t thread.Token) (bool, error) {
	s.documents.Lock()
	defer s.documents.Unlock()
	d, err := s.read(t.Digits())
	if err != nil || !d.Gone.IsZero() || !s.expired(d) {
		return false, err
	}
	return true, s.remove(d)
}

// leftover removes a file that a crash left: of ours by its name, without a document of data that is there, and
// written by nobody.
func (s *Store) leftover(name string) (bool, error) {
	if isNew(name) {
		s.documents.Lock() // none is being written
		defer s.documents.Unlock()
		return s.sweepAway(name)
	}
	stem, data := dataOf(name)
	if stem == "" || s.reserved(stem) {
		return false, nil
	}
	if data { // after it was reserved: the document comes before the release
		d, err := s.read(stem)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && d.Gone.IsZero() && d.dataName() == name {
			return false, nil //nolint:nilerr // Sweep names what is wrong with the document
		}
	}
	return s.sweepAway(name)
}

// sweepAway removes a file of ours; what is none is left, and named.
func (s *Store) sweepAway(name string) (bool, error) {
	if err := s.folder.Check(name); err != nil {
		return false, err
	}
	err := s.folder.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// isNew reports whether a name is that of a document that was being written.
func isNew(name string) bool {
	stem, ok := strings.CutPrefix(name, newBegin)
	return ok && isHex(stem, 16)
}

// dataOf returns the stem of the name of a data file, with a token or, where data is not set, without one; empty for
// other files.
func dataOf(name string) (stem string, data bool) {
	if stem, ok := strings.CutSuffix(name, partEnd); ok {
		if isHex(stem, 16) {
			return stem, false
		}
		return "", false
	}
	for _, end := range suffixes() {
		if stem, ok := strings.CutSuffix(name, end); ok && isHex(stem, 8) {
			return stem, true
		}
	}
	return "", false
}

func isHex(s string, n int) bool { return len(s) == n && strings.Trim(s, "0123456789abcdef") == "" }

// forget removes the documents of what is gone for long, and the oldest of too many.
func (s *Store) forget(gone []document) error {
	slices.SortFunc(gone, func(a, b document) int { return b.Gone.Compare(a.Gone) })
	var errs []error
	for i, d := range gone {
		if i < mostGone && s.since(d.Gone) < goneFor {
			continue
		}
		errs = append(errs, s.drop(d.Token.Digits()+documentEnd))
	}
	return errors.Join(errs...)
}
