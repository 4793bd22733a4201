package bundle

import "orchestrator/thread/work"

// Allocations returns the pieces of a bundle as those of an execution; sent says whether one was sent.
func Allocations(x work.Execution, k work.KeptBundle, sent func(it work.BundleItem, sum string) bool) []work.Allocation {
	pieces := make([]work.Allocation, len(k.Bundle.Items))
	for i, it := range k.Bundle.Items {
		sum := ""
		if i < len(k.Pieces) {
			sum = k.Pieces[i]
		}
		pieces[i] = work.Allocation{
			Execution: x.Name, Type: it.Type, Source: it.Source, Tokens: it.Tokens, Included: sent(it, sum), Bundle: k.Bundle.ID,
			Priority: it.Priority, Sections: it.Sections, Hash: sum, Claimed: sum == "",
		}
	}
	return pieces
}
