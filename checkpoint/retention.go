package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
)

// Policy selects the threads that a store need not keep. A limit of zero means no limit. Only archived and deleted threads
// are ever removed, and never one that is pinned, interrupted or running, nor an archived one whose fork stays.
// Checkpoints that others are based on stay whatever happens to their thread.
type Policy struct {
	// Deleted is how long a deleted thread can be restored.
	Deleted time.Duration
	// Archived is how long an archived thread is kept after its last change.
	Archived time.Duration
	// Count is how many archived threads are kept; the oldest go first.
	Count int
	// Bytes is what all threads together may take; the oldest archived go first.
	Bytes int64
	// Record is how long executions, work sessions and bundles are kept after they ended; those of threads go with their
	// thread in any case.
	Record time.Duration
}

// Candidate is a thread with what a Policy needs to know about it.
type Candidate struct {
	Thread  thread.Thread
	Bytes   int64 // size of its own checkpoints
	Running bool
}

// Aged returns what of a thread a Policy needs: very many of them need little memory then.
func Aged(t thread.Thread) thread.Thread {
	return thread.Thread{
		ID: t.ID, Name: t.Name, Parent: t.Parent, Created: t.Created, Updated: t.Updated, Pinned: t.Pinned,
		Archived: t.Archived, Deleted: t.Deleted, Interrupted: t.Interrupted, Once: thread.Once{On: t.Once.On},
	}
}

// Expired is a thread that a Policy removes, and why, for people.
type Expired struct {
	ID    thread.ID `json:"id"`
	Name  string    `json:"name"`
	Bytes int64     `json:"bytes"`
	Why   string    `json:"why"`
	since time.Time // when it was archived or deleted; a change since then saves it
}

// Select returns the threads to remove, oldest first; since says how long ago something was. It only reads.
func (p Policy) Select(since func(time.Time) time.Duration, all []Candidate) []Expired {
	s := &selection{since: since, expired: map[thread.ID]Expired{}}
	total := int64(0)
	for _, c := range all {
		total += c.Bytes
		t := c.Thread
		switch {
		case t.Pinned || t.Interrupted || c.Running:
		case !t.Deleted.IsZero():
			if age := since(t.Deleted); p.Deleted > 0 && age >= p.Deleted {
				s.add(c, fmt.Sprintf("deleted %s ago", days(age)), t.Deleted)
			}
		case !t.Archived.IsZero():
			s.archived = append(s.archived, c)
		}
	}
	// A thread's children were archived before it if both are to go, so that one pass from young to old sees them.
	slices.SortStableFunc(s.archived, func(a, b Candidate) int {
		return cmp.Or(last(a.Thread).Compare(last(b.Thread)), a.Thread.Created.Compare(b.Thread.Created))
	})
	s.forked(all)
	s.byAge(p.Archived)
	s.byCount(p.Count)
	for _, d := range s.expired {
		total -= d.Bytes
	}
	s.bySize(p.Bytes, total)
	out := make([]Expired, 0, len(s.expired))
	for _, d := range s.expired {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Expired) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.ID, b.ID)) })
	return out
}

// last is when something last happened to an archived thread.
func last(t thread.Thread) time.Time {
	if t.Updated.After(t.Archived) {
		return t.Updated
	}
	return t.Archived
}

type selection struct {
	since    func(time.Time) time.Duration
	archived []Candidate // oldest first
	expired  map[thread.ID]Expired
	children map[thread.ID][]thread.ID
}

func (s *selection) forked(all []Candidate) {
	s.children = map[thread.ID][]thread.ID{}
	for _, c := range all {
		if c.Thread.Parent != "" && c.Thread.Deleted.IsZero() {
			s.children[c.Thread.Parent] = append(s.children[c.Thread.Parent], c.Thread.ID)
		}
	}
}

// free reports whether no remaining thread was forked from a thread.
func (s *selection) free(id thread.ID) bool {
	return !slices.ContainsFunc(s.children[id], func(child thread.ID) bool {
		_, goes := s.expired[child]
		return !goes
	})
}

func (s *selection) add(c Candidate, why string, since time.Time) {
	s.expired[c.Thread.ID] = Expired{ID: c.Thread.ID, Name: c.Thread.Name, Bytes: c.Bytes, Why: why, since: since}
}

// each offers archived threads that are still kept, oldest first, until take returns false. It starts again after one
// that freed its parent.
func (s *selection) each(take func(Candidate) (goes bool, why string)) {
	for again := true; again; {
		again = false
		for _, c := range s.archived {
			if _, gone := s.expired[c.Thread.ID]; gone || !s.free(c.Thread.ID) {
				continue
			}
			goes, why := take(c)
			if !goes {
				continue
			}
			s.add(c, why, last(c.Thread))
			again = again || c.Thread.Parent != ""
		}
	}
}

func (s *selection) byAge(limit time.Duration) {
	s.each(func(c Candidate) (bool, string) {
		age := s.since(last(c.Thread))
		return limit > 0 && age >= limit, fmt.Sprintf("archived, unchanged for %s", days(age))
	})
}

func (s *selection) byCount(limit int) {
	kept := 0
	for _, c := range s.archived {
		if _, gone := s.expired[c.Thread.ID]; !gone {
			kept++
		}
	}
	s.each(func(Candidate) (bool, string) {
		if limit <= 0 || kept <= limit {
			return false, ""
		}
		kept--
		return true, fmt.Sprintf("more than %d archived", limit)
	})
}

func (s *selection) bySize(limit, total int64) {
	s.each(func(c Candidate) (bool, string) {
		if limit <= 0 || total <= limit || c.Bytes == 0 {
			return false, ""
		}
		total -= c.Bytes
		return true, fmt.Sprintf("all threads take more than %d bytes", limit)
	})
}

// days formats a duration in whole days.
func days(d time.Duration) string {
	if n := int(d.Hours() / 24); n != 1 {
		return fmt.Sprintf("%d days", n)
	}
	return "1 day"
}

// Collect removes selected threads with purge, one by one, and returns those that are gone. One that was changed since
// it was selected is left alone, and so is one that cannot be purged; the error names it.
func Collect(
	ctx context.Context, from thread.Threads, expired []Expired, purge func(context.Context, thread.ID) error,
) ([]Expired, error) {
	var gone []Expired
	var errs []error
	for _, d := range expired {
		if err := ctx.Err(); err != nil {
			return gone, errors.Join(append(errs, err)...)
		}
		t, err := from.Thread(ctx, d.ID)
		if errors.Is(err, thread.ErrNotFound) {
			continue
		}
		if err == nil && (t.Pinned || !d.since.Equal(last(t)) && !d.since.Equal(t.Deleted)) {
			continue
		}
		if err == nil {
			err = purge(ctx, d.ID)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("collect %s: %w", d.Name, err))
			continue
		}
		gone = append(gone, d)
	}
	return gone, errors.Join(errs...)
}
