package tree

import (
	"cmp"
	"slices"

	"orchestrator/thread"
)

// Row is a thread in tree order.
type Row struct {
	ID thread.ID
	// Guide has the tree lines that lead to the thread.
	Guide string
	// Forks is set if it has forks in the list.
	Forks bool
	// Hides is how many threads below it are collapsed.
	Hides int
}

// Rows puts threads, given oldest first, into tree order: forks below their parents, waiting threads and their parents
// first, then pinned ones. Forks whose parent is not in the list start their own trees. folded reports whether to leave
// out a thread's forks; it may be nil.
func Rows(list []*thread.Status, folded func(thread.ID) bool) []Row {
	nodes := make([]node, len(list))
	at := make(map[thread.ID]*node, len(list))
	for i, s := range list {
		nodes[i].of = s
		at[s.ID] = &nodes[i]
	}
	roots := make([]*node, 0, len(list))
	for i := range nodes {
		n := &nodes[i]
		if p := at[n.of.Parent]; p != nil {
			p.kids = append(p.kids, n)
		} else {
			roots = append(roots, n)
		}
	}
	for _, r := range roots {
		r.lift(0)
	}
	slices.SortStableFunc(roots, before)
	for i := range nodes {
		slices.SortStableFunc(nodes[i].kids, before)
	}
	b := builder{folded: folded, rows: make([]Row, 0, len(list))}
	for _, r := range roots {
		b.add(r, "", "")
	}
	return b.rows
}

// maxDepth limits the recursion over parents, which come from outside.
const maxDepth = 64

// node is a thread in the tree with its forks.
type node struct {
	of   *thread.Status
	kids []*node
	rank int // the best of its own need and its forks'
	put  bool
}

func before(a, b *node) int {
	return cmp.Or(boolRank(a.rank == 0, b.rank == 0), boolRank(a.of.Pinned, b.of.Pinned), cmp.Compare(a.rank, b.rank))
}

// lift computes a thread's rank, and those of its forks.
func (n *node) lift(depth int) int {
	n.rank = need(n.of)
	if depth < maxDepth {
		for _, k := range n.kids {
			n.rank = min(n.rank, k.lift(depth+1))
		}
	}
	return n.rank
}

// below counts the forks of a thread, and their forks.
func (n *node) below(depth int) int {
	sum := len(n.kids)
	if depth < maxDepth {
		for _, k := range n.kids {
			sum += k.below(depth + 1)
		}
	}
	return sum
}

// builder builds rows.
type builder struct {
	folded func(thread.ID) bool
	rows   []Row
}

// add appends a thread and its forks to the rows.
func (b *builder) add(n *node, lead, branch string) {
	if n.put || len(lead) > maxDepth*4 {
		return
	}
	n.put = true
	r := Row{ID: n.of.ID, Guide: lead + branch, Forks: len(n.kids) > 0}
	folded := b.folded != nil && b.folded(n.of.ID)
	if folded {
		r.Hides = n.below(0)
	}
	b.rows = append(b.rows, r)
	if folded {
		return
	}
	switch branch {
	case "├ ":
		lead += "│ "
	case "└ ":
		lead += "  "
	}
	for i, k := range n.kids {
		branch := "├ "
		if i == len(n.kids)-1 {
			branch = "└ "
		}
		b.add(k, lead, branch)
	}
}

func boolRank(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
