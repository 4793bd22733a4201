package manager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
)

// shelf finds threads that are in the store only: those that are archived or deleted become live when they are used. What
// the store does not tell now is an error: nobody acts as if there were nothing.
type shelf struct {
	cfg *Config
	ctx func() context.Context
}

// mostAlike is how many threads of a name's beginning are compared.
const mostAlike = 100

// thread returns a thread by its id, false if there is none.
func (s *shelf) thread(id thread.ID) (t thread.Thread, there bool, err error) {
	if s.cfg.Store == nil || id.Check() != nil {
		return thread.Thread{}, false, nil
	}
	t, err = s.cfg.Store.Thread(s.ctx(), id)
	if errors.Is(err, thread.ErrNotFound) {
		return thread.Thread{}, false, nil
	}
	if err != nil {
		return thread.Thread{}, false, fmt.Errorf("look for thread %s: %w", id, err)
	}
	return t, true, nil
}

// named returns a thread by its id or its whole name.
func (s *shelf) named(ref string) (t thread.Thread, there bool, err error) {
	if ref == "" || s.cfg.Store == nil {
		return thread.Thread{}, false, nil
	}
	if thread.ID(ref).Check() == nil {
		if t, there, err = s.thread(thread.ID(ref)); there || err != nil {
			return t, there, err
		}
	}
	list, err := s.some(thread.Query{Name: ref, Limit: mostAlike})
	for _, t := range list {
		if t.Name == ref {
			return t, true, nil
		}
	}
	return thread.Thread{}, false, err
}

// beginning returns the threads at rest whose names, or ids, begin with a text.
func (s *shelf) beginning(ref string) ([]thread.Thread, error) {
	if ref == "" || s.cfg.Store == nil {
		return nil, nil
	}
	list, err := s.some(thread.Query{Use: thread.AtRest, Name: strings.ToLower(ref), Newest: true, Limit: mostAlike})
	if err != nil || len(ref) < shortestID {
		return list, err
	}
	more, err := s.some(thread.Query{Use: thread.AtRest, ID: ref, Limit: mostAlike})
	return append(list, more...), err
}

// called returns the threads at rest that people call by a name other than their own: it reads all of them.
func (s *shelf) called(ref string) ([]thread.Thread, error) {
	return s.where(func(t *thread.Thread) bool {
		whole, begins := t.Called(ref)
		return whole || begins
	})
}

// where returns the threads at rest that match: it reads all of them, by the page.
func (s *shelf) where(match func(*thread.Thread) bool) (list []thread.Thread, err error) {
	if s.cfg.Store == nil {
		return nil, nil
	}
	err = thread.EachThread(s.ctx(), s.cfg.Store, thread.Query{Use: thread.AtRest}, func(t thread.Thread) error {
		if match(&t) && t.ID.Check() == nil {
			list = append(list, t)
		}
		return nil
	})
	return list, told(err)
}

// hadSession reports whether the agent of a thread at rest, other than one, had a session.
func (s *shelf) hadSession(than thread.ID, session string) (bool, error) {
	if session == "" || s.cfg.Store == nil {
		return false, nil
	}
	list, err := s.some(thread.Query{Session: session, Limit: 2})
	return slices.ContainsFunc(list, func(t thread.Thread) bool { return t.ID != than }), err
}

func (s *shelf) some(q thread.Query) ([]thread.Thread, error) {
	list, _, err := s.cfg.Store.SelectThreads(s.ctx(), q)
	return slices.DeleteFunc(list, func(t thread.Thread) bool { return t.ID.Check() != nil }), told(err)
}

// told says what was asked for when the store did not tell.
func told(err error) error {
	if err != nil {
		return fmt.Errorf("look for threads in the store: %w", err)
	}
	return nil
}

// shortestID is how much of an id at least stands for the whole.
const shortestID = 4
