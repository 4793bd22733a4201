package mcp

import (
	"cmp"
	"slices"
	"strings"

	"orchestrator/thread"
)

// order is what a table is sorted by.
type order int

const (
	byUse order = iota
	byTokens
	byName
	byState
	byCall
	orders
)

func (o order) String() string { return [...]string{"use", "tokens", "name", "state", "last call"}[o] }

// sort sorts rows. Those that are equal are sorted by name, and then by id.
func (o order) sort(rows []row) {
	slices.SortFunc(rows, func(a, b row) int {
		first := 0
		switch o {
		case byUse:
			first = used(&a.server, &b.server)
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

// used compares two servers by what people look for: those that are on, then those that they have to look at, then the
// others; of each, those first that take most of a context, or would.
func used(a, b *thread.MCPServer) int {
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(cost(b), cost(a)), cmp.Compare(b.Tokens, a.Tokens))
}

// place returns where a server stands.
func place(s *thread.MCPServer) int {
	box, _ := boxOf(s)
	switch {
	case s.On:
		return 0
	case box != "[ ]":
		return 1
	default:
		return 2
	}
}

// cost returns the tokens that a server takes of a context.
func cost(s *thread.MCPServer) int64 {
	if s.On {
		return s.Tokens
	}
	return 0
}
