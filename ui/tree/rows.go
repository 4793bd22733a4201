package tree

import (
	"cmp"
	"slices"

	"orchestrator/thread"
)

// Row is a thread in the list.
type Row struct {
	ID thread.ID
	// Guide has the tree lines that lead to the thread.
	Guide string
	// Forks is set if it has forks in the list.
	Forks bool
	// Hides is how many threads below it are collapsed; of those, Louds are in the group Loud, which asks the most.
	Hides int
	Loud  thread.Group
	Louds int
}

// Rows puts threads, given oldest first, into tree order: forks and runs below the thread that they are of, waiting threads
// and their parents first, then pinned ones. Those whose parent is not in the list start their own trees. folded reports
// whether to leave out a thread that is directly below another; it may be nil.
func Rows(list []*thread.Status, folded func(below *thread.Status, id thread.ID) bool) []Row {
	nodes := make([]node, len(list))
	for i, s := range list {
		nodes[i] = node{of: s, rank: rank(s, s.Place(), s.Waits()), pinned: s.Pinned}
	}
	p := planting{under: func(_, _ *node) bool { return true }, before: beforeInTree, lift: liftRank}
	b := builder{folded: folded, rows: make([]Row, 0, len(list))}
	for _, r := range p.plant(nodes) {
		b.add(r, "", "")
	}
	return b.rows
}

// maxDepth limits the recursion over parents, which come from outside.
const maxDepth = 64

// node is a thread in the tree with its forks.
type node struct {
	of     *thread.Status
	kids   []*node
	place  thread.Place
	pinned bool
	rank   int // the best of its own need and its forks'
	put    bool
}

// planting describes how threads become trees: which forks stand under their parents, and the order of siblings. lift raises
// a parent to the place of the best of its forks.
type planting struct {
	under  func(fork, parent *node) bool
	before func(a, b *node) int
	lift   func(parent, fork *node)
}

// plant returns the roots.
func (p planting) plant(nodes []node) []*node {
	at := make(map[thread.ID]*node, len(nodes))
	for i := range nodes {
		at[nodes[i].of.ID] = &nodes[i]
	}
	roots := make([]*node, 0, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		if parent := at[n.of.Under()]; parent != nil && p.under(n, parent) {
			parent.kids = append(parent.kids, n)
		} else {
			roots = append(roots, n)
		}
	}
	for _, r := range roots {
		p.raise(r, 0)
	}
	slices.SortStableFunc(roots, p.before)
	for i := range nodes {
		slices.SortStableFunc(nodes[i].kids, p.before)
	}
	return roots
}

func (p planting) raise(n *node, depth int) {
	if depth >= maxDepth {
		return
	}
	for _, k := range n.kids {
		p.raise(k, depth+1)
		p.lift(n, k)
	}
}

// rank ranks threads of the pure tree: the lower, the more they need the user. States that come and go by themselves
// share a rank, so that the tree does not move while agents work.
func rank(s *thread.Status, place thread.Place, waits bool) int {
	switch {
	case place.Group == thread.GroupNeedsYou:
		return 0
	case waits:
		return 1
	case s.Settled():
		return 3
	default:
		return 2
	}
}

func beforeInTree(a, b *node) int {
	return cmp.Or(first(a.rank == 0, b.rank == 0), first(a.pinned, b.pinned), cmp.Compare(a.rank, b.rank))
}

func liftRank(parent, fork *node) { parent.rank = min(parent.rank, fork.rank) }

func beforeInGroup(a, b *node) int { return a.place.Compare(b.place) }

func liftPlace(parent, fork *node) {
	if fork.place.Compare(parent.place) < 0 {
		parent.place = fork.place
	}
}

// first orders what is so before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// builder builds rows.
type builder struct {
	folded func(below *thread.Status, id thread.ID) bool
	rows   []Row
}

// add appends a thread and its forks to the rows.
func (b *builder) add(n *node, lead, branch string) {
	if n.put || len(lead) > maxDepth*4 {
		return
	}
	n.put = true
	r := Row{ID: n.of.ID, Guide: lead + branch, Forks: len(n.kids) > 0}
	b.rows = append(b.rows, r)
	kids := n.kids
	if b.folded != nil {
		kids = slices.DeleteFunc(slices.Clone(kids), func(k *node) bool { return b.folded(k.of, n.of.ID) })
	}
	switch branch {
	case "├ ":
		lead += "│ "
	case "└ ":
		lead += "  "
	}
	for i, k := range kids {
		branch := "├ "
		if i == len(kids)-1 {
			branch = "└ "
		}
		b.add(k, lead, branch)
	}
}
