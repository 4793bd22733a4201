package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// AddSession stores a work session.
func (s *Store) AddSession(_ context.Context, v work.Session) (work.Session, error) {
	v, err := work.AddedSession(v, s.now())
	if err != nil {
		return work.Session{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.Name == "" {
		v.Name = s.next(work.SessionPrefix, func(name string) bool { return s.session(name) != nil })
	}
	if s.session(v.Name) != nil {
		return work.Session{}, fmt.Errorf("work session %q: %w", v.Name, thread.ErrNameTaken)
	}
	s.sessions = append(s.sessions, &v)
	s.wrote(v.By, 1, len(v.Scope)+len(v.Metadata))
	return v, nil
}

// ChangeSession changes a work session in one step.
func (s *Store) ChangeSession(_ context.Context, name string, change func(*work.Session) error) (work.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.session(name)
	if old == nil {
		return work.Session{}, noSession(name)
	}
	v, err := work.ChangedSession(*old, change, s.now())
	if err != nil {
		return work.Session{}, err
	}
	*old = v
	return v, nil
}

// Session finds a work session.
func (s *Store) Session(_ context.Context, name string) (work.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.session(name); v != nil {
		return *v, nil
	}
	return work.Session{}, noSession(name)
}

// Sessions lists some, newest first.
func (s *Store) Sessions(_ context.Context, q work.SessionQuery) ([]work.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := len(s.sessions)
	if q.Before != "" {
		if end = slices.IndexFunc(s.sessions, func(v *work.Session) bool { return v.Name == q.Before }); end < 0 {
			return nil, noSession(q.Before)
		}
	}
	out := []work.Session{}
	for _, v := range slices.Backward(s.sessions[:end]) {
		if q.Selects(*v) && len(out) < q.Size() {
			out = append(out, *v)
		}
	}
	return out, nil
}

// ChangeTask changes a task in one step.
func (s *Store) ChangeTask(_ context.Context, session, title string, change func(*work.Task) error) (work.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.session(session)
	if v == nil {
		return work.Task{}, noSession(session)
	}
	i := slices.IndexFunc(s.tasks, func(o work.Task) bool { return o.Session == session && o.Title == title })
	var old *work.Task
	if i >= 0 {
		old = &s.tasks[i]
	} else if err := v.Open(); err != nil {
		return work.Task{}, err
	}
	t, err := work.ChangedTask(session, title, old, change, s.now())
	if err != nil {
		return work.Task{}, err
	}
	if old != nil {
		*old = t
		return t, nil
	}
	s.tasks = append(s.tasks, t)
	s.wrote(t.By, 1, len(t.Title)+len(t.Body))
	return t, nil
}

// Tasks returns those of a work session.
func (s *Store) Tasks(_ context.Context, session string) ([]work.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session(session) == nil {
		return nil, noSession(session)
	}
	out := []work.Task{}
	for _, t := range s.tasks {
		if t.Session == session {
			out = append(out, t)
		}
	}
	return out, nil
}

// Allocate adds pieces of context.
func (s *Store) Allocate(_ context.Context, id work.ID, pieces []work.Allocation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	if err != nil {
		return err
	}
	var added []work.Allocation
	for _, a := range pieces {
		if a, err = work.Allocated(r.x, a); err != nil {
			return err
		}
		added = append(added, a)
	}
	for _, a := range added {
		i := slices.IndexFunc(r.pieces, func(o work.Allocation) bool {
			return o.Type == a.Type && o.Source == a.Source && slices.Equal(o.Sections, a.Sections) && o.Bundle == a.Bundle
		})
		if i >= 0 {
			r.pieces[i].Included = r.pieces[i].Included || a.Included
			continue
		}
		s.allocations++
		a.N = s.allocations
		r.pieces = append(r.pieces, a)
	}
	return nil
}

// Allocations returns those of an execution.
func (s *Store) Allocations(_ context.Context, id work.ID) ([]work.Allocation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	if err != nil {
		return nil, err
	}
	return append([]work.Allocation{}, r.pieces...), nil
}

// stored finds what an execution has of an output already: with a path the newest version, if that is the same.
func (s *Store) stored(r *row, o work.Output) *work.Output {
	var newest *work.Output
	for _, k := range slices.Backward(s.outputs) {
		same := bytes.Equal(k.o.Content, o.Content)
		if k.of == r && k.o.Type == o.Type && k.o.Path == o.Path && (same && o.Path == "" || o.Path != "" && r.x.Line(k.o) == r.x.Line(o)) {
			if same && (newest == nil || k.o.Version > newest.Version) {
				newest = &k.o
			}
			break
		}
	}
	return newest
}

// AddOutputs stores what came of an execution.
func (s *Store) AddOutputs(_ context.Context, id work.ID, outputs []work.Output) ([]work.Output, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	if err != nil {
		return nil, err
	}
	added, err := s.checked(r, outputs)
	if err != nil {
		return nil, err
	}
	return s.addOutputs(r, added), nil
}

// End changes an execution and adds outputs in one step.
func (s *Store) End(
	_ context.Context, id work.ID, fence int64, change func(*work.Execution) error, outputs []work.Output, events ...work.Event,
) (work.Execution, []work.Output, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	if err != nil {
		return work.Execution{}, nil, err
	}
	added, err := s.checked(r, outputs)
	if err != nil {
		return work.Execution{}, nil, err
	}
	x, err := s.rewrite(id, s.changing(fence, change, events))
	if err != nil {
		return work.Execution{}, nil, err
	}
	return x, s.addOutputs(r, added), nil
}

// checked returns outputs as they are kept. The caller holds mu.
func (s *Store) checked(r *row, outputs []work.Output) (added []work.Output, err error) {
	for _, o := range outputs {
		if o, err = work.AddedOutput(r.x, o, s.now()); err != nil {
			return nil, err
		}
		added = append(added, o)
	}
	return added, nil
}

// addOutputs adds outputs, or returns them as they are stored. The caller holds mu.
func (s *Store) addOutputs(r *row, added []work.Output) []work.Output {
	for i, o := range added {
		if old := s.stored(r, o); old != nil {
			added[i] = *old
			continue
		}
		if o.Path != "" {
			o.Version = 1
			for _, k := range s.outputs {
				if k.of.x.Line(k.o) == r.x.Line(o) && k.o.Type == o.Type && k.o.Path == o.Path {
					o.Version = max(o.Version, k.o.Version+1)
					k.o.Current = false
				}
			}
		}
		o.N = int64(len(s.outputs)) + s.gone + 1
		s.outputs = append(s.outputs, &output{r, o})
		s.wrote(o.By, 1, len(o.Content))
		added[i] = o
	}
	return append([]work.Output{}, added...)
}

// Outputs lists some, newest first.
func (s *Store) Outputs(_ context.Context, q work.OutputQuery) ([]work.Output, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, left := []work.Output{}, q.Whole
	for _, k := range slices.Backward(s.outputs) {
		if q.Selects(k.of.x, k.o) && len(out) < q.Size() {
			out = append(out, q.Fit(k.o, &left))
		}
	}
	return out, nil
}

// PutBundle stores a bundle.
func (s *Store) PutBundle(_ context.Context, b work.KeptBundle, pieces map[string][]byte) (work.KeptBundle, error) {
	b, given, err := work.PutBundle(b, pieces, s.now())
	if err != nil {
		return work.KeptBundle{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.bundle(b.Hash); old != nil {
		return *old, nil
	}
	for _, hash := range b.Pieces {
		if hash != "" && given[hash] == nil && s.pieces[hash] == nil {
			return work.KeptBundle{}, thread.Kindf(thread.ErrInvalid, "piece %.12s of a bundle is missing", hash)
		}
	}
	if b.Bundle.ID == "" {
		b.Bundle.ID = s.next(work.BundlePrefix, func(name string) bool { return s.bundle(name) != nil })
	}
	if s.bundle(b.Bundle.ID) != nil {
		return work.KeptBundle{}, fmt.Errorf("bundle %q: %w", b.Bundle.ID, thread.ErrNameTaken)
	}
	for hash, content := range given {
		s.pieces[hash] = append([]byte{}, content...)
	}
	s.bundles = append(s.bundles, &b)
	s.wrote(b.By, 1, 0)
	return b, nil
}

// bundle finds one by id or hash, nil if there is none. The caller holds mu.
func (s *Store) bundle(ref string) *work.KeptBundle {
	for _, b := range s.bundles {
		if b.Bundle.ID == ref || b.Hash == ref {
			return b
		}
	}
	return nil
}

// Bundle finds one by id or hash.
func (s *Store) Bundle(_ context.Context, ref string) (work.KeptBundle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.bundle(ref); b != nil {
		return *b, nil
	}
	return work.KeptBundle{}, fmt.Errorf("bundle %q: %w", ref, thread.ErrNotFound)
}

// Bundles lists some, newest first.
func (s *Store) Bundles(_ context.Context, q work.BundleQuery) ([]work.KeptBundle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := len(s.bundles)
	if q.Before != "" {
		if end = slices.IndexFunc(s.bundles, func(b *work.KeptBundle) bool { return b.Bundle.ID == q.Before }); end < 0 {
			return nil, fmt.Errorf("bundle %q: %w", q.Before, thread.ErrNotFound)
		}
	}
	out := []work.KeptBundle{}
	for _, b := range slices.Backward(s.bundles[:end]) {
		if q.Selects(*b) && len(out) < q.Size() {
			out = append(out, *b)
		}
	}
	return out, nil
}

// Piece returns content by its hash.
func (s *Store) Piece(_ context.Context, hash string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, there := s.pieces[hash]
	if !there {
		return nil, fmt.Errorf("piece %q of a bundle: %w", hash, thread.ErrNotFound)
	}
	if work.PieceHash(content) != hash {
		return nil, fmt.Errorf("piece %.12s of a bundle: %w", hash, thread.ErrDamaged)
	}
	return append([]byte{}, content...), nil
}

// Recorded lists executions of all kinds, newest first.
func (s *Store) Recorded(_ context.Context, q work.RecordQuery) ([]work.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.order + 1
	if q.Before != "" {
		r, err := s.row(q.Before)
		if err != nil {
			return nil, err
		}
		before = r.order
	}
	out := []work.Execution{}
	for _, r := range slices.Backward(s.sorted()) {
		if r.order >= before || !q.Selects(r.x) || !s.found(r, q) || len(out) == q.Size() {
			continue
		}
		x, err := r.read()
		if err != nil {
			x = work.Damaged(r.x.ID, r.x.Name, r.x.Thread)
		}
		out = append(out, x)
	}
	return out, nil
}

// found reports whether an execution has the words and the path that are asked for. The caller holds mu.
func (s *Store) found(r *row, q work.RecordQuery) bool {
	var paths []string
	for _, k := range s.outputs {
		if k.of == r {
			paths = append(paths, k.o.Path)
		}
	}
	given := ""
	if r.x.Given > 0 {
		given = r.events[r.x.Given-1].Text
	}
	has := work.FoundBy(r.x, given, paths)
	for _, w := range q.Terms() {
		if _, there := slices.BinarySearch(has, w); !there {
			return false
		}
	}
	return q.Path == "" || slices.Contains(paths, q.Path)
}

// Written counts what a thread's agent has ever written down.
func (s *Store) Written(_ context.Context, by thread.ID) (rows, bytes int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.written[by]; n != nil {
		return n[0], n[1], nil
	}
	return 0, 0, nil
}

// Stats sums up executions.
func (s *Store) Stats(_ context.Context, q work.StatsQuery) ([]work.Stat, error) {
	if _, err := q.Key(work.Execution{}); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := map[string]*work.Stat{}
	for _, r := range s.sorted() {
		if !q.Selects(r.x) {
			continue
		}
		key, err := q.Key(r.x)
		if err != nil {
			return nil, err
		}
		if sums[key] == nil {
			sums[key] = &work.Stat{Key: key}
		}
		sums[key].Sum(r.x)
	}
	out := []work.Stat{}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, *sums[key])
	}
	return q.Chosen(out), nil
}
