package manager

import (
	"context"
	"errors"
	"slices"
	"strings"

	"orchestrator/thread"
)

// shelf finds threads that are in the store only: those that are archived or deleted become live when they are used.
// What the store cannot say is logged, and is as if it had nothing.
type shelf struct {
	cfg *Config
	ctx func() context.Context
}

// mostAlike is how many threads of a name's beginning are compared.
const mostAlike = 100

// thread returns a thread by its id.
func (s *shelf) thread(id thread.ID) (thread.Thread, bool) {
	if id == "" || s.cfg.Store == nil {
		return thread.Thread{}, false
	}
	t, err := s.cfg.Store.Thread(s.ctx(), id)
	if err != nil || t.ID.Check() != nil {
		if err != nil && !errors.Is(err, thread.ErrNotFound) {
			s.cfg.Log.Warn("read a thread", "thread", string(id), "err", err)
		}
		return thread.Thread{}, false
	}
	return t, true
}

// named returns a thread by its id or its whole name.
func (s *shelf) named(ref string) (thread.Thread, bool) {
	if ref == "" || s.cfg.Store == nil {
		return thread.Thread{}, false
	}
	if thread.ID(ref).Check() == nil {
		if t, ok := s.thread(thread.ID(ref)); ok {
			return t, true
		}
	}
	for _, t := range s.some(thread.Query{Name: ref, Limit: mostAlike}) {
		if t.Name == ref {
			return t, true
		}
	}
	return thread.Thread{}, false
}

// beginning returns the threads at rest whose names, or ids, begin with a text.
func (s *shelf) beginning(ref string) []thread.Thread {
	if ref == "" || s.cfg.Store == nil {
		return nil
	}
	list := s.some(thread.Query{Use: thread.AtRest, Name: strings.ToLower(ref), Newest: true, Limit: mostAlike})
	if len(ref) >= shortestID {
		list = append(list, s.some(thread.Query{Use: thread.AtRest, ID: ref, Limit: mostAlike})...)
	}
	return list
}

// called returns the threads at rest that people call by a name other than their own: it reads all of them.
func (s *shelf) called(ref string) []thread.Thread {
	return s.where(func(t *thread.Thread) bool {
		whole, begins := t.Called(ref)
		return whole || begins
	})
}

// where returns the threads at rest that match: it reads all of them, by the page.
func (s *shelf) where(match func(*thread.Thread) bool) (list []thread.Thread) {
	if s.cfg.Store == nil {
		return nil
	}
	err := thread.EachThread(s.ctx(), s.cfg.Store, thread.Query{Use: thread.AtRest}, func(t thread.Thread) error {
		if match(&t) && t.ID.Check() == nil {
			list = append(list, t)
		}
		return nil
	})
	s.log(err)
	return list
}

// hadSession reports whether the agent of a thread at rest, other than one, had a session.
func (s *shelf) hadSession(than thread.ID, session string) bool {
	return session != "" && s.cfg.Store != nil &&
		slices.ContainsFunc(s.some(thread.Query{Session: session, Limit: 2}), func(t thread.Thread) bool { return t.ID != than })
}

func (s *shelf) some(q thread.Query) []thread.Thread {
	list, _, err := s.cfg.Store.SelectThreads(s.ctx(), q)
	s.log(err)
	return slices.DeleteFunc(list, func(t thread.Thread) bool { return t.ID.Check() != nil })
}

func (s *shelf) log(err error) {
	if err != nil {
		s.cfg.Log.Warn("look for threads in the store", "err", err)
	}
}

// shortestID is how much of an id at least stands for the whole.
const shortestID = 4
