package manager

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread"
)

// find returns the line that a name, a unique prefix of one or an id means, among all that are not
// deleted.
func (m *Manager) find(ref string) (*line, error) {
	return m.findAmong(ref, func(t thread.Thread) bool { return t.Deleted.IsZero() })
}

// findDeleted is find among the deleted ones.
func (m *Manager) findDeleted(ref string) (*line, error) {
	return m.findAmong(ref, func(t thread.Thread) bool { return !t.Deleted.IsZero() })
}

func (m *Manager) findAmong(ref string, among func(thread.Thread) bool) (*line, error) {
	ref = strings.TrimSpace(ref)
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.lines[thread.ID(ref)]; l != nil && among(l.t) {
		return l, nil
	}
	var all, begin, active, called []*line
	for _, l := range m.all() {
		if !among(l.t) {
			continue
		}
		if l.t.Name == ref {
			return l, nil
		}
		all = append(all, l)
		whole, begins := l.t.Called(ref)
		if whole {
			called = append(called, l)
		}
		if ref != "" && (begins || strings.HasPrefix(l.t.Name, strings.ToLower(ref)) || len(ref) >= 4 && strings.HasPrefix(string(l.id), ref)) {
			begin = append(begin, l)
			if l.t.Archived.IsZero() {
				active = append(active, l)
			}
		}
	}
	if len(begin) == 1 {
		return begin[0], nil
	}
	if len(called) == 1 {
		return called[0], nil
	}
	if len(active) == 1 {
		return active[0], nil // an archived namesake is not what is meant
	}
	if len(begin) > 1 {
		return nil, &thread.UnknownThreadError{Name: ref, Nearest: namesOf(begin, 5), Many: true}
	}
	return nil, &thread.UnknownThreadError{Name: ref, Nearest: nearest(ref, all)}
}

func namesOf(lines []*line, most int) []string {
	var names []string
	for _, l := range lines {
		if len(names) == most {
			break
		}
		names = append(names, l.t.Name)
	}
	return names
}

// nearest returns up to three names that a person may have meant.
func nearest(ref string, lines []*line) []string {
	type near struct {
		name string
		far  int
	}
	ref = strings.ToLower(ref)
	var found []near
	for _, l := range lines {
		name := l.t.Name
		slug := name
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			slug = name[:i]
		}
		far := min(distance(ref, name), distance(ref, slug))
		if title := strings.ToLower(l.t.Title); title != "" {
			far = min(far, distance(ref, title))
			if strings.Contains(title, ref) {
				far = 0
			}
		}
		if ref != "" && strings.Contains(name, ref) {
			far = 0
		}
		if far <= max(2, len(ref)/3) {
			found = append(found, near{name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, n := range found[:min(3, len(found))] {
		names = append(names, n.name)
	}
	return names
}

// distance counts the letters to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	if len(a) > 64 {
		a = a[:64] // names are shorter; a pasted page must not cost a second
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// point finds what a thread's "at" means: "" is the newest whole turn, a number that turn, and
// anything else a checkpoint's id or a prefix of it, in the thread's lineage.
func (m *Manager) point(ctx context.Context, t thread.Thread, at string) (thread.Checkpoint, error) {
	if t.Head == "" {
		if at == "" {
			return thread.Checkpoint{}, nil
		}
		return thread.Checkpoint{}, fmt.Errorf("point %q of %s: nothing was said yet: %w", at, t.Name, thread.ErrNotFound)
	}
	if at == "" {
		return m.newestWhole(ctx, t)
	}
	if n, err := strconv.Atoi(at); err == nil && len(at) < 8 { // longer ones are ids without a letter
		return m.turnPoint(ctx, t, n)
	}
	return m.checkpointPoint(ctx, t, at)
}

// newestWhole returns the newest checkpoint that ends a turn.
func (m *Manager) newestWhole(ctx context.Context, t thread.Thread) (thread.Checkpoint, error) {
	head, err := m.cfg.Store.Checkpoint(ctx, t.Head)
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the newest checkpoint of %s: %w", t.Name, err)
	}
	if head.Whole() {
		return head, nil
	}
	list, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Turns: true, Limit: 1})
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the turns of %s: %w", t.Name, err)
	}
	if len(list) == 0 {
		return thread.Checkpoint{}, thread.Hint(fmt.Errorf("%s is in the middle of its first turn: %w", t.Name, thread.ErrBusy), "wait until it has answered")
	}
	return list[0], nil
}

// turnPoint returns the checkpoint that ended a turn.
func (m *Manager) turnPoint(ctx context.Context, t thread.Thread, turn int) (thread.Checkpoint, error) {
	// The newest one at or below the turn is nearly always the one that ended it; others of the same
	// turn are rewinds to it and safety checkpoints.
	for limit := 1; ; limit = 50 {
		list, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Turns: true, Before: int64(turn) + 1, Limit: limit})
		if err != nil {
			return thread.Checkpoint{}, fmt.Errorf("read the turns of %s: %w", t.Name, err)
		}
		var found thread.Checkpoint
		for _, c := range list {
			if c.Turn == turn && (found.ID == "" || c.Kind == thread.KindTurn && found.Kind != thread.KindTurn) {
				found = c
			}
		}
		switch {
		case found.ID != "" && (found.Kind == thread.KindTurn || limit > 1):
			return found, nil
		case found.ID == "":
			return thread.Checkpoint{}, thread.Hint(fmt.Errorf("turn %d of %s: %w", turn, t.Name, thread.ErrNotFound), "it has "+counted(t.Turn, "turn"))
		}
	}
}

// checkpointPoint returns the checkpoint with an id or a unique prefix of one, of those that the
// thread stands on or made itself. Another thread's are not found: they are not its past.
func (m *Manager) checkpointPoint(ctx context.Context, t thread.Thread, at string) (thread.Checkpoint, error) {
	if len(at) < 4 {
		return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s: %w", at, t.Name, thread.ErrInvalid), "give a turn's number or at least 4 digits of a checkpoint")
	}
	all := thread.Page{Limit: 1 << 20}
	list, err := m.cfg.Store.Lineage(ctx, t.Head, all)
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the checkpoints of %s: %w", t.Name, err)
	}
	own, err := m.cfg.Store.Checkpoints(ctx, t.ID, all) // what a rewind left behind too
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the checkpoints of %s: %w", t.Name, err)
	}
	found := make(map[thread.CheckpointID]thread.Checkpoint)
	for _, c := range append(list, own...) {
		if strings.HasPrefix(string(c.ID), strings.ToLower(at)) {
			found[c.ID] = c
		}
	}
	switch len(found) {
	case 0:
		return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s: %w", at, t.Name, thread.ErrNotFound), "`orchestrator checkpoint list "+t.Name+"` lists them")
	case 1:
		for _, c := range found {
			return c, nil
		}
	}
	return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s means %d checkpoints: %w", at, t.Name, len(found), thread.ErrInvalid), "give more digits")
}
