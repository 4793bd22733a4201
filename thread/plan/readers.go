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

// Agent returns what the plan says of an agent.
func (b *Board) Agent(name string) (Agent, bool) {
	a, known := b.agents[name]
	return a, known
}

// Nodes returns all nodes by Number.
func (b *Board) Nodes() []Node { return slices.Clone(b.nodes) }

// Open is how many nodes are not final, Working how many work, Asking how many ask a person.
func (b *Board) Open() int { return b.open }

// Working is how many nodes work.
func (b *Board) Working() int { return b.working }

// Asking is how many nodes ask a person.
func (b *Board) Asking() int { return b.asking }

// Task returns the task.
func (b *Board) Task() Task { return b.task }
