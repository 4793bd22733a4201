package manager

import (
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
)

// called returns a live thread's run by its id or its whole name, nil if there is none.
func (m *registry) called(ref string) *run {
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	if l := m.byID[thread.ID(ref)]; l != nil {
		return l
	}
	if l := m.index.names[ref]; l != nil {
		return m.byID[l.id]
	}
	return nil
}

// find returns the run for a name, a unique prefix of one or an id, among all threads that are not deleted.
func (m *registry) find(ref string) (*run, error) {
	return m.findAmong(ref, func(t *thread.Thread) bool { return t.Deleted.IsZero() })
}

// findDeleted is find among the deleted threads.
func (m *registry) findDeleted(ref string) (*run, error) {
	return m.findAmong(ref, func(t *thread.Thread) bool { return !t.Deleted.IsZero() })
}

func (m *registry) findAmong(ref string, among func(*thread.Thread) bool) (*run, error) {
	if l := m.called(strings.TrimSpace(ref)); l != nil && l.live.is(among) {
		return l, nil
	}
	t, err := m.lookAmong(ref, among)
	if err != nil {
		return nil, err
	}
	l, err := m.certain(m.work.ctx, t.ID)
	if l == nil && err == nil { // it was purged meanwhile
		return nil, &thread.UnknownThreadError{Name: ref}
	}
	return l, err
}

// lookFor is find for a thread that becomes live by that no more than it is.
func (m *registry) lookFor(ref string) (thread.Thread, error) {
	return m.lookAmong(ref, func(t *thread.Thread) bool { return t.Deleted.IsZero() })
}

func (m *registry) lookAmong(ref string, among func(*thread.Thread) bool) (thread.Thread, error) {
	ref = strings.TrimSpace(ref)
	if l := m.called(ref); l != nil && l.live.is(among) {
		return l.live.thread(), nil
	}
	t, ok, err := m.shelf.named(ref)
	if err != nil || ok && m.loaded(t.ID) == nil && among(&t) {
		return t, err
	}
	var all []thread.Thread
	for _, l := range m.all() {
		if t := l.live.thread(); among(&t) {
			all = append(all, t)
		}
	}
	live := len(all)
	take := func(list []thread.Thread) {
		for i := range list {
			if t := &list[i]; among(t) && m.loaded(t.ID) == nil && !slices.ContainsFunc(all[live:], func(o thread.Thread) bool { return o.ID == t.ID }) {
				all = append(all, *t)
			}
		}
	}
	begin, err := m.shelf.beginning(ref)
	if err != nil {
		return thread.Thread{}, err
	}
	take(begin)
	c := matching(ref, all)
	if len(c.begin)+len(c.called) == 0 {
		called, err := m.shelf.called(ref)
		if err != nil {
			return thread.Thread{}, err
		}
		take(called)
		c = matching(ref, all)
	}
	switch {
	case len(c.begin) == 1:
		return c.begin[0], nil
	case len(c.called) == 1:
		return c.called[0], nil
	case len(c.active) == 1:
		return c.active[0], nil // an archived thread of the same name is not meant
	case len(c.begin) > 1:
		return thread.Thread{}, &thread.UnknownThreadError{Name: ref, Nearest: namesOf(c.begin, 5), Many: true}
	}
	return thread.Thread{}, &thread.UnknownThreadError{Name: ref, Nearest: nearest(ref, all)}
}

// candidates are the threads that may be meant.
type candidates struct{ begin, active, called []thread.Thread }

func matching(ref string, all []thread.Thread) (c candidates) {
	for i := range all {
		t := &all[i]
		whole, begins := t.Called(ref)
		if whole {
			c.called = append(c.called, *t)
		}
		if ref != "" && (begins || strings.HasPrefix(t.Name, strings.ToLower(ref)) ||
			len(ref) >= shortestID && strings.HasPrefix(string(t.ID), ref)) {
			c.begin = append(c.begin, *t)
			if t.Archived.IsZero() {
				c.active = append(c.active, *t)
			}
		}
	}
	return c
}

func namesOf(list []thread.Thread, most int) []string {
	var names []string
	for _, t := range list[:min(most, len(list))] {
		names = append(names, t.Name)
	}
	return names
}

// nearest returns up to three names that a mistyped one may mean, or whose names or titles contain it.
func nearest(ref string, all []thread.Thread) []string {
	ref = strings.ToLower(ref)
	within := func(s string) bool { return ref != "" && strings.Contains(strings.ToLower(s), ref) }
	var names []string
	for _, t := range all {
		if within(t.Name) || within(t.Title) {
			names = append(names, t.Name)
		}
	}
	var words []string
	of := map[string]string{} // from what a person may have meant to a name
	for _, t := range all {
		slug := t.Name
		if i := strings.LastIndexByte(slug, '-'); i > 0 {
			slug = slug[:i]
		}
		for _, w := range []string{t.Name, slug, t.Title} {
			if _, known := of[w]; !known && w != "" {
				words, of[w] = append(words, w), t.Name
			}
		}
	}
	stem := ref
	if i := strings.LastIndexByte(ref, '-'); i > 0 && len(ref)-i == 5 {
		stem = ref[:i] // the number that ends a name may be another one
	}
	for _, w := range slices.Concat(near.Names(ref, words), near.Names(stem, words)) {
		if !slices.Contains(names, of[w]) {
			names = append(names, of[w])
		}
	}
	return names[:min(near.Most, len(names))]
}
