package memory

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"orchestrator/thread/work"
)

var _ work.Keeper = (*Store)(nil)

// Load stores what was taken from another store as it was.
func (s *Store) Load(_ context.Context, all []work.Whole) (taken []int, err error) {
	for _, w := range all {
		if err := w.Check(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range all {
		if !s.load(w) {
			taken = append(taken, i)
			continue
		}
		prefix, digits, _ := strings.Cut(w.Name(), "-")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err == nil && work.NumberedAs(prefix, n) == w.Name() && (w.Execution == nil || w.Execution.Kind != work.KindHand) {
			s.numbers[prefix] = max(s.numbers[prefix], n)
		}
	}
	return taken, nil
}

// load adds a row; false if its name is taken. The caller holds mu.
func (s *Store) load(w work.Whole) bool {
	switch {
	case w.Session != nil:
		if s.session(w.Session.Name) != nil {
			return false
		}
		v := *w.Session
		s.sessions, s.tasks = append(s.sessions, &v), append(s.tasks, w.Tasks...)
	case w.Bundle != nil:
		if s.bundle(w.Bundle.Hash) != nil || s.bundle(w.Bundle.Bundle.ID) != nil {
			return false
		}
		b := *w.Bundle
		s.bundles = append(s.bundles, &b)
		for hash, content := range w.Pieces {
			s.pieces[hash] = content
		}
	default:
		x := *w.Execution
		if s.rows[x.ID] != nil || s.names[x.Name] != "" {
			return false
		}
		s.order++
		r := &row{x: x, order: s.order, lost: map[int]bool{}, events: slices.Clone(w.Events), pieces: slices.Clone(w.Allocations)}
		s.rows[x.ID], s.names[x.Name] = r, x.ID
		for i := range r.pieces {
			if s.allocations = max(s.allocations+1, r.pieces[i].N); r.pieces[i].N == 0 {
				r.pieces[i].N = s.allocations
			}
		}
		for _, o := range w.Outputs {
			s.loadOutput(r, o)
		}
	}
	return true
}

// loadOutput adds an output with its number, or another if that is taken. The caller holds mu.
func (s *Store) loadOutput(r *row, o work.Output) {
	last := int64(0)
	free := o.N > 0
	for _, k := range s.outputs {
		last = max(last, k.o.N)
		free = free && k.o.N != o.N
	}
	if !free {
		o.N = last + 1
	}
	s.outputs = append(s.outputs, &output{r, o})
	slices.SortFunc(s.outputs, func(a, b *output) int { return int(a.o.N - b.o.N) })
	s.gone = max(s.gone, o.N, last) - int64(len(s.outputs))
	newest := (*output)(nil)
	for _, k := range s.outputs {
		if o.Path != "" && k.of.x.Line(k.o) == r.x.Line(o) && k.o.Type == o.Type && k.o.Path == o.Path {
			k.o.Current = false
			if newest == nil || k.o.Version >= newest.o.Version {
				newest = k
			}
		}
	}
	if newest != nil {
		newest.o.Current = true
	}
}

// Expire removes what ended before a time.
func (s *Store) Expire(_ context.Context, before time.Time, dry bool) (out work.Expired, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := func(x work.Execution) bool { return x.State.Final() && !x.Ended.IsZero() && x.Ended.Before(before) }
	sessions, bundles := map[string]bool{}, map[string]bool{}
	for _, r := range s.rows {
		if gone(r.x) {
			out.Executions++
			continue
		}
		sessions[r.x.Session], bundles[r.x.Bundle] = true, true
		for _, a := range r.pieces {
			bundles[a.Bundle] = true
		}
	}
	ended := func(v *work.Session) bool { return v.Status.Final() && v.Updated.Before(before) && !sessions[v.Name] }
	kept := map[string]bool{}
	for _, v := range s.sessions {
		if ended(v) {
			out.Sessions++
		} else {
			kept[v.Name] = true
		}
	}
	old := func(b *work.KeptBundle) bool {
		return b.Bundle.Created.Before(before) && !bundles[b.Bundle.ID] && !kept[b.Session]
	}
	for _, b := range s.bundles {
		if old(b) {
			out.Bundles++
		}
	}
	if dry {
		return out, nil
	}
	for id, r := range s.rows {
		if gone(r.x) {
			s.remove(id, r)
		}
	}
	s.tasks = slices.DeleteFunc(s.tasks, func(t work.Task) bool { return !kept[t.Session] })
	s.sessions = slices.DeleteFunc(s.sessions, ended)
	s.bundles = slices.DeleteFunc(s.bundles, old)
	named := map[string]bool{}
	for _, b := range s.bundles {
		for _, h := range b.Pieces {
			named[h] = true
		}
	}
	for h := range s.pieces {
		if !named[h] {
			delete(s.pieces, h)
		}
	}
	return out, nil
}

// Measure counts what is stored.
func (s *Store) Measure(context.Context) (work.Measure, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := work.Measure{Executions: len(s.rows), Sessions: len(s.sessions), Outputs: len(s.outputs), Bundles: len(s.bundles)}
	for _, r := range s.rows {
		m.Events += len(r.events)
	}
	return m, nil
}
