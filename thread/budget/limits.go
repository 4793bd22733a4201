package budget

import (
	"maps"
	"slices"
	"strings"

	"orchestrator/thread"
)

// Limits are the budgets of threads, groups and the project that people have set, over those that are configured. Those
// of executions are theirs. The zero value has none.
type Limits struct {
	Project thread.Budget               `json:"project,omitzero"`
	Groups  map[string]thread.Budget    `json:"groups,omitempty"`
	Threads map[thread.ID]thread.Budget `json:"threads,omitempty"`
	// By says which threads were started by another one's agent, which pays for them too.
	By map[thread.ID]thread.ID `json:"by,omitempty"`
	// Told are the levels that people were told of.
	Told []Told `json:"told,omitempty"`
}

// Of returns the budget of a scope, the zero one if it has none of its own.
func (l Limits) Of(s Scope) thread.Budget {
	switch s.Kind {
	case Project:
		return l.Project
	case Group:
		return l.Groups[s.ID]
	case Thread:
		return l.Threads[thread.ID(s.ID)]
	default:
		return thread.Budget{}
	}
}

// With returns the limits with another budget of a scope; the zero one takes it away.
func (l Limits) With(s Scope, b thread.Budget) Limits {
	switch s.Kind {
	case Project:
		l.Project = b
	case Group:
		l.Groups = with(l.Groups, s.ID, b, b.Set())
	case Thread:
		l.Threads = with(l.Threads, thread.ID(s.ID), b, b.Set())
	default:
	}
	return l
}

// StartedBy returns the limits with the thread whose agent has started another.
func (l Limits) StartedBy(id, by thread.ID) Limits {
	l.By = with(l.By, id, by, by != "")
	return l
}

// Telling returns the limits with a level that people were told of.
func (l Limits) Telling(t Told) Limits {
	kept := slices.DeleteFunc(slices.Clone(l.Told), func(o Told) bool { return o.Scope == t.Scope })
	l.Told = append(kept, t)
	return l
}

// Without returns the limits without a thread that is gone.
func (l Limits) Without(id thread.ID) Limits {
	l.Threads = with(l.Threads, id, thread.Budget{}, false)
	l.By = with(l.By, id, "", false)
	l.Told = slices.DeleteFunc(slices.Clone(l.Told), func(o Told) bool { return o.Scope == Scope{Thread, string(id)} })
	return l
}

// with returns a map with a value, or without it; the map itself does not change.
func with[K comparable, V any](m map[K]V, key K, value V, set bool) map[K]V {
	m = maps.Clone(m)
	if !set {
		delete(m, key)
		return m
	}
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}

// longestGroup is how long the name of a group may be.
const longestGroup = 60

// CheckGroup returns an error for what cannot be the name of a group.
func CheckGroup(name string) error {
	ok := name != "" && len(name) <= longestGroup && name[0] != '-' &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
		})
	if !ok {
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "the group %q", thread.Excerpt(name)),
			"use letters, digits, - _ and ., at most 60")
	}
	return nil
}
