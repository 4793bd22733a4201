package masks

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// Pinned reports whether a content is never to be masked.
func (s *Set) Pinned(id policy.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.pinned[id]
}

// Pin has a content never masked.
func (s *Set) Pin(id policy.ID) error {
	if err := checkPin(id); err != nil {
		return err
	}
	return s.note(record{Kind: kindPin, ID: id}, func(x *index) bool { return x.pinned[id] })
}

// Unpin takes a pin back.
func (s *Set) Unpin(id policy.ID) error {
	if err := checkPin(id); err != nil {
		return err
	}
	return s.note(record{Kind: kindUnpin, ID: id}, func(x *index) bool { return !x.pinned[id] })
}

func checkPin(id policy.ID) error {
	if id == "" || !utf8.ValidString(string(id)) {
		return fmt.Errorf("pin %.20q: %w", id, thread.ErrInvalid)
	}
	return nil
}

// Mode returns the mode that was set for the thread, "" if none was.
func (s *Set) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.mode
}

// SetMode sets the thread's mode; "" takes it back. It lies with the thread, and in the log.
func (s *Set) SetMode(mode string) error {
	if !utf8.ValidString(mode) {
		return fmt.Errorf("mode %.20q: %w", mode, thread.ErrInvalid)
	}
	if err := s.note(record{Kind: kindMode, Mode: mode}, func(x *index) bool { return x.mode == mode }); err != nil {
		return err
	}
	s.mu.Lock()
	s.why = "" // who sets it knows
	s.mu.Unlock()
	if err := s.putSeal(); err != nil {
		return fmt.Errorf("store the mode of thread %s: %w", s.id, err)
	}
	return nil
}

// Summaries returns the summaries, oldest first.
func (s *Set) Summaries() []Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.index.summaries)
}

// AddSummary stores a new summary.
func (s *Set) AddSummary(sum Summary) error {
	return s.putSummary(sum, func(i int) error {
		if i >= 0 {
			return thread.Kindf(thread.ErrInvalid, "summary %.20q exists already", sum.ID)
		}
		return nil
	})
}

// SetSummary replaces the summary with the same id, as when a person edits its text or drops it.
func (s *Set) SetSummary(sum Summary) error {
	return s.putSummary(sum, func(i int) error {
		if i < 0 {
			return fmt.Errorf("summary %.20q: %w", sum.ID, thread.ErrNotFound)
		}
		return nil
	})
}

// putSummary stores a summary if its place, -1 for none, may be taken.
func (s *Set) putSummary(sum Summary, may func(i int) error) error {
	if err := sum.check(); err != nil {
		return err
	}
	sum.At = sum.At.Round(0).UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := may(s.index.summary(sum.ID)); err != nil {
		return err
	}
	if err := s.append([]record{{Kind: kindSummary, Summary: &sum}}); err != nil {
		return fmt.Errorf("store a summary of thread %s: %w", s.id, explain(err, s.shelf.copies.folder.Path(string(s.id))))
	}
	return nil
}
