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
	b := builder{kids: map[thread.ID][]*thread.Status{}, folded: folded, in: make(map[thread.ID]bool, len(list))}
	rank := make(map[thread.ID]int, len(list))
	for _, s := range list {
		b.in[s.ID] = true
	}
	var roots []*thread.Status
	for _, s := range list {
		if b.in[s.Parent] {
			b.kids[s.Parent] = append(b.kids[s.Parent], s)
		} else {
			roots = append(roots, s)
		}
	}
	for _, r := range roots {
		b.lift(r, rank, 0)
	}
	order := func(x, y *thread.Status) int {
		return cmp.Or(boolRank(rank[x.ID] == 0, rank[y.ID] == 0), boolRank(x.Pinned, y.Pinned),
			cmp.Compare(rank[x.ID], rank[y.ID]))
	}
	slices.SortStableFunc(roots, order)
	for _, k := range b.kids {
		slices.SortStableFunc(k, order)
	}
	clear(b.in)
	b.rows = make([]Row, 0, len(list))
	for _, r := range roots {
		b.add(r, "", "")
	}
	return b.rows
}

// maxDepth limits the recursion over parents, which come from outside.
const maxDepth = 64

// builder builds rows.
type builder struct {
	kids   map[thread.ID][]*thread.Status
	folded func(thread.ID) bool
	in     map[thread.ID]bool // threads in the list, later those in the rows
	rows   []Row
}

// lift computes a thread's rank: the best of its own and its forks'.
func (b *builder) lift(s *thread.Status, rank map[thread.ID]int, depth int) int {
	n := need(s)
	if depth < maxDepth {
		for _, k := range b.kids[s.ID] {
			n = min(n, b.lift(k, rank, depth+1))
		}
	}
	rank[s.ID] = n
	return n
}

// add appends a thread and its forks to the rows.
func (b *builder) add(s *thread.Status, lead, branch string) {
	if b.in[s.ID] || len(lead) > maxDepth*4 {
		return
	}
	b.in[s.ID] = true
	kids := b.kids[s.ID]
	r := Row{ID: s.ID, Guide: lead + branch, Forks: len(kids) > 0}
	folded := b.folded != nil && b.folded(s.ID)
	if folded {
		r.Hides = b.below(s.ID, 0)
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
	for i, k := range kids {
		branch := "├ "
		if i == len(kids)-1 {
			branch = "└ "
		}
		b.add(k, lead, branch)
	}
}

// below counts the forks of a thread, and their forks.
func (b *builder) below(id thread.ID, depth int) int {
	n := len(b.kids[id])
	if depth < maxDepth {
		for _, k := range b.kids[id] {
			n += b.below(k.ID, depth+1)
		}
	}
	return n
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
