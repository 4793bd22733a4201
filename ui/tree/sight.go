package tree

import (
	"maps"

	"orchestrator/thread"
	"orchestrator/thread/filter"
)

// Sight is what of the list is in sight: its filter, what is folded, and the cursor.
type Sight struct {
	selected thread.ID
	filter   string
	archived bool
	folded   map[thread.ID]bool
	closed   map[thread.Group]bool
}

// Sight returns what is in sight now.
func (t *Tree) Sight() Sight {
	t.sort()
	return Sight{t.selected, t.filter, t.archived, maps.Clone(t.folded), maps.Clone(t.closed)}
}

// See brings back what was in sight. Where the selected thread is gone, the cursor goes beside it.
func (t *Tree) See(s Sight) {
	t.filter, t.archived, t.folded, t.closed = s.filter, s.archived, maps.Clone(s.folded), maps.Clone(s.closed)
	t.only, t.wrong = filter.Parse(s.filter)
	t.asked, t.stale = false, true
	if t.threads[s.selected] != nil {
		t.selected = s.selected
	}
}
