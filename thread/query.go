package thread

import (
	"context"
	"strings"
)

// Use tells threads in use from those at rest.
type Use int

// What a query may ask for.
const (
	AnyUse Use = iota
	InUse      // neither archived nor deleted
	AtRest     // archived or deleted
)

// Query selects stored threads. The zero value selects all.
type Query struct {
	Use Use
	// ID and Name are what the ids and names of the threads begin with, "" for any.
	ID, Name string
	// Session selects those at rest whose agents had this session, "" for any.
	Session string
	// Newest has the threads that were stored last come first.
	Newest bool
	// Limit is how many threads are returned at most, 0 for all.
	Limit int
	// After is where a page begins: what the one before returned as next, 0 for the first. It stays valid whatever is
	// stored, changed or purged meanwhile.
	After int64
}

// Selects reports whether a query selects a thread, wherever its page begins.
func (q Query) Selects(t *Thread) bool {
	return (q.Use == AnyUse || q.Use == t.UsedNow()) && strings.HasPrefix(string(t.ID), q.ID) && strings.HasPrefix(t.Name, q.Name) &&
		(q.Session == "" || q.Session == t.Session && t.UsedNow() == AtRest)
}

// UsedNow is what Use a thread has as it is.
func (t *Thread) UsedNow() Use {
	if t.Archived.IsZero() && t.Deleted.IsZero() {
		return InUse
	}
	return AtRest
}

// threadPage is how many threads EachThread reads at once.
const threadPage = 256

// selector is the part of Threads that EachThread needs.
type selector interface {
	SelectThreads(context.Context, Query) (list []Thread, next int64, err error)
}

// EachThread calls do with each thread that a query selects, and reads them by the page: very many need little memory.
// An error of do ends it, and is returned.
func EachThread(ctx context.Context, s selector, q Query, do func(Thread) error) error {
	q.Limit = threadPage
	for {
		list, next, err := s.SelectThreads(ctx, q)
		if err != nil {
			return err
		}
		for i := range list {
			if err := do(list[i]); err != nil {
				return err
			}
		}
		if next == 0 {
			return nil
		}
		q.After = next
	}
}
