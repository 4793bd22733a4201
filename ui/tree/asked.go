package tree

import "orchestrator/thread"

// Ask replaces what tasks of plans ask.
func Ask(t *Tree, all []thread.NodeQuestion) {
	for _, id := range t.asks.ids {
		delete(t.threads, id)
		delete(t.cards, id)
	}
	t.asks.set(all)
	t.asks.put(t.threads, t.cards)
	t.stale = true
}

// Asked returns the question that the cursor is on, nil if it is on a thread.
func Asked(t *Tree) *thread.NodeQuestion {
	t.sort()
	if q, is := t.asks.of[t.selected]; is {
		return &q.asked
	}
	return nil
}

// SelectAsked moves the cursor to a question.
func SelectAsked(t *Tree, q thread.NodeQuestion) bool { return t.Select(rowOf(q)) }
