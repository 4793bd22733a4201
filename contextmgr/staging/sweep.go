package staging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
)

const (
	// goneFor is how long the document of a removed entry stays, and maxGone how many of them do.
	goneFor = 24 * time.Hour
	maxGone = 1000
)

// Swept is what Sweep removed.
type Swept struct {
	Expired   int
	Bytes     int64 // of the expired entries
	Leftovers int   // files left by a crash
}

// Sweep removes expired entries and leftovers of crashes. An error with one file does not stop it; it returns all of
// them.
func (s *Store) Sweep(ctx context.Context) (Swept, error) {
	var done Swept
	files, err := s.files()
	if err != nil {
		return done, err
	}
	var errs []error
	var gone []document
	find := sync.OnceValues(s.cfg.Pins) // nothing to find as long as nothing is staged
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
			default:
				pins, err := find()
				if err != nil {
					return done, fmt.Errorf("clean up staged data: %w", err)
				}
				errs = append(errs, s.sweep(d, len(pins[d.Token]) > 0, &done))
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
		return done, fmt.Errorf("clean up staged data: %w", err)
	}
	return done, nil
}

// sweep removes an entry that has expired, and restarts the time to live of one that something needs.
func (s *Store) sweep(d document, needed bool, done *Swept) error {
	if needed {
		return s.use(d)
	}
	if !s.over(d) {
		return nil
	}
	removed, err := s.expire(d.Token)
	if err == nil && removed {
		done.Expired, done.Bytes = done.Expired+1, done.Bytes+d.Bytes
	}
	return err
}

// expire removes an entry unless it was used in the meantime.
func (s *Store) expire(t thread.Token) (bool, error) {
	s.documents.Lock()
	defer s.documents.Unlock()
	d, err := s.read(t.Digits())
	if err != nil || !d.Gone.IsZero() || !s.over(d) {
		return false, err
	}
	return true, s.remove(d)
}

// leftover removes a file if a crash left it: a file with a name of ours that belongs to no entry and is not being
// written.
func (s *Store) leftover(name string) (bool, error) {
	if isNew(name) {
		s.documents.Lock() // so none is being written
		defer s.documents.Unlock()
		return s.sweepAway(name)
	}
	stem, data := dataOf(name)
	if stem == "" || s.reserved(stem) {
		return false, nil
	}
	if data { // looked up only now, because a writer writes the document before it releases the name
		d, err := s.read(stem)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && d.Gone.IsZero() && d.dataName() == name {
			return false, nil //nolint:nilerr // Sweep reports damaged documents
		}
	}
	return s.sweepAway(name)
}

// sweepAway removes a regular file of ours; anything else is an error.
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

// forget removes the documents of entries that were removed long ago, and the oldest ones if there are too many.
func (s *Store) forget(gone []document) error {
	slices.SortFunc(gone, func(a, b document) int { return b.Gone.Compare(a.Gone) })
	var errs []error
	for i, d := range gone {
		if i < maxGone && s.cfg.Since(d.Gone) < goneFor {
			continue
		}
		errs = append(errs, s.drop(d.Token.Digits()+documentEnd))
	}
	return errors.Join(errs...)
}
