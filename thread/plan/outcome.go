package plan

import (
	"fmt"
	"strings"
)

// Outcome is how a task ends whose nodes are all final: complete if each agent has handed over, or what reads it went on
// without it.
func (b *Board) Outcome() (Status, string) {
	carried := make([]bool, len(b.nodes)) // something went on without it
	for i := range b.nodes {
		if n := &b.nodes[i]; n.State == NodeDelivered && !n.Gate {
			for _, u := range b.waits[i] {
				if u.bad == 0 {
					continue
				}
				for _, name := range u.names {
					if p, known := b.place[name]; known && n.Given[name] == 0 {
						carried[p] = true
					}
				}
			}
		}
	}
	var failed, refused, cancelled []string
	for i := range b.nodes {
		switch n := &b.nodes[i]; {
		case n.State == NodeDelivered, n.State == NodeSkipped, carried[i]:
		case n.State == NodeCancelled:
			cancelled = append(cancelled, n.Agent)
		case n.Gate:
			refused = append(refused, n.Agent)
		default:
			failed = append(failed, n.Agent)
		}
	}
	switch {
	case len(cancelled) > 0:
		return Cancelled, some(cancelled) + " was cancelled"
	case len(failed) > 0:
		return Failed, some(failed) + " failed"
	case len(refused) > 0:
		return Failed, some(refused) + " was answered with no"
	}
	for i := range b.nodes {
		if n := &b.nodes[i]; n.State == NodeSkipped && !carried[i] {
			return Failed, n.Agent + " was left out"
		}
	}
	return Complete, ""
}

// some names the first few.
func some(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
