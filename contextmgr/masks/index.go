package masks

import (
	"maps"
	"slices"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// index is what the records of a log say.
type index struct {
	begun     bool   // the log has a record
	masks     []Mask // oldest first
	byID      map[policy.ID]int
	byToken   map[thread.Token]int
	pinned    map[policy.ID]bool
	mode      string
	summaries []Summary
}

func newIndex() *index {
	return &index{byID: map[policy.ID]int{}, byToken: map[thread.Token]int{}, pinned: map[policy.ID]bool{}}
}

// apply takes over a record of a thread's log.
func (x *index) apply(id thread.ID, r record, file func(home thread.ID, token thread.Token) string) {
	x.begun = true
	switch r.Kind {
	case kindMask:
		m := *r.Mask
		if m.Home == "" {
			m.Home = id
		}
		m.File = file(m.Home, m.Token)
		_, masked := x.byID[m.ID]
		if _, taken := x.byToken[m.Token]; masked || taken {
			return // what is masked stays as it is
		}
		x.byID[m.ID], x.byToken[m.Token] = len(x.masks), len(x.masks)
		x.masks = append(x.masks, m)
	case kindPin:
		x.pinned[r.ID] = true
	case kindUnpin:
		delete(x.pinned, r.ID)
	case kindMode:
		x.mode = r.Mode
	case kindSummary:
		if i := x.summary(r.Summary.ID); i >= 0 {
			x.summaries[i] = *r.Summary
		} else {
			x.summaries = append(x.summaries, *r.Summary)
		}
	}
}

// mask returns the mask of a content.
func (x *index) mask(id policy.ID) (Mask, bool) {
	i, ok := x.byID[id]
	if !ok {
		return Mask{}, false
	}
	return x.masks[i], true
}

// named returns the mask with a token.
func (x *index) named(token thread.Token) (Mask, bool) {
	i, ok := x.byToken[token]
	if !ok {
		return Mask{}, false
	}
	return x.masks[i], true
}

// summary returns the place of a summary, -1 if there is none.
func (x *index) summary(id string) int {
	return slices.IndexFunc(x.summaries, func(s Summary) bool { return s.ID == id })
}

// homes returns the threads whose outputs the masks name, in the order of the masks.
func (x *index) homes() []thread.ID {
	var all []thread.ID
	seen := map[thread.ID]bool{}
	for _, m := range x.masks {
		if !seen[m.Home] {
			seen[m.Home] = true
			all = append(all, m.Home)
		}
	}
	return all
}

// records returns the records with which a fork begins.
func (x *index) records(parent thread.ID) []record {
	all := []record{{Kind: kindBegin, Parent: parent}}
	for _, m := range x.masks {
		all = append(all, record{Kind: kindMask, Mask: &m})
	}
	for _, id := range slices.Sorted(maps.Keys(x.pinned)) {
		all = append(all, record{Kind: kindPin, ID: id})
	}
	if x.mode != "" {
		all = append(all, record{Kind: kindMode, Mode: x.mode})
	}
	for _, s := range x.summaries {
		all = append(all, record{Kind: kindSummary, Summary: &s})
	}
	return all
}
