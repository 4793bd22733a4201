package mcp

import (
	"cmp"
	"slices"
	"strings"
)

// order is what a table is sorted by.
type order int

const (
	byTokens order = iota
	byName
	byState
	byCall
	orders
)

func (o order) String() string { return [...]string{"tokens", "name", "state", "last call"}[o] }

// sort sorts rows. Those that are equal are sorted by name, and then by id.
func (o order) sort(rows []row) {
	slices.SortFunc(rows, func(a, b row) int {
		first := 0
		switch o {
		case byTokens:
			first = cmp.Compare(b.server.Tokens, a.server.Tokens)
		case byState:
			first = cmp.Compare(stateOf(&a.server).rank, stateOf(&b.server).rank)
		case byCall:
			first = b.server.Called.Compare(a.server.Called)
		default:
		}
		return cmp.Or(first, cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), cmp.Compare(a.server.ID, b.server.ID))
	})
}
