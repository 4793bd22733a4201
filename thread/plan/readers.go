package plan

import "slices"

// Readers returns all that reads or follows an agent, directly or not, in the order of the plan.
func (b *Board) Readers(agent string) []string {
	at, known := b.place[agent]
	if !known {
		return nil
	}
	seen, lists, todo := map[int]bool{at: true}, map[*upstream]bool{}, []int{at}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, u := range b.member[i] {
			if lists[u] {
				continue
			}
			lists[u] = true
			for _, j := range u.nodes {
				if !seen[j] {
					seen[j] = true
					todo = append(todo, j)
				}
			}
		}
	}
	delete(seen, at)
	var names []string
	for i := range b.nodes {
		if seen[i] {
			names = append(names, b.nodes[i].Agent)
		}
	}
	return names
}

// AsksSame returns the nodes that ask a person whether to go on without the same as one that does, by Number; itself only, if
// it asks something else.
func (b *Board) AsksSame(agent string) []string {
	at, known := b.place[agent]
	if !known || b.nodes[at].State != NodeAsking || b.nodes[at].Asks != AsksUpstream {
		return []string{agent}
	}
	var names []string
	missing := b.missing(at)
	for i := range b.nodes {
		if n := &b.nodes[i]; n.State == NodeAsking && n.Asks == AsksUpstream && slices.Equal(b.missing(i), missing) {
			names = append(names, n.Agent)
		}
	}
	return names
}

// LeftOut is the reason of a node that a person has left out because of what is missing.
const LeftOut = "left out: a person said no"

// answers reports whether all that is missing of what a node waits for was missing when a person answered.
func (b *Board) answers(w *Without, i int) bool {
	return !slices.ContainsFunc(b.missing(i), func(at int) bool { return b.nodes[at].Ended.After(w.At) })
}

// answeredAs returns the node whose answer holds for another that asks about the same: so what becomes of that does not depend
// on whether both asked at once. What was said before a person had it begin again does not hold. The newest answer does.
func (b *Board) answeredAs(i int) (as *Node) {
	var missing []int
	for j := range b.nodes {
		w := b.nodes[j].Without
		if w == nil || w.Only || j == i || w.At.Before(b.nodes[i].Again) || as != nil && !w.At.After(as.Without.At) {
			continue
		}
		if missing == nil {
			missing = b.missing(i)
		}
		if b.answers(w, i) && slices.Equal(b.missing(j), missing) {
			as = &b.nodes[j]
		}
	}
	return as
}
