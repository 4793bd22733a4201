package tree

import "orchestrator/thread"

// What a task of a plan asks about one of its nodes stands among the threads that need the person, though it is none: it is
// kept apart from the threads, and while the cursor is on it no thread is selected.

// asked is a question in the list.
type asked struct {
	of  thread.NodeQuestion
	row *thread.Status // as which it stands there
}

// askedID is the id of a question's row. No thread has such a name.
func askedID(q thread.NodeQuestion) thread.ID { return thread.ID("?" + q.Name()) }

// Ask replaces what tasks of plans ask.
func (t *Tree) Ask(all []thread.NodeQuestion) {
	for id := range t.asks {
		delete(t.threads, id)
		delete(t.cards, id)
	}
	t.asks, t.asking = make(map[thread.ID]asked, len(all)), t.asking[:0]
	for _, q := range all {
		id := askedID(q)
		s := &thread.Status{Thread: thread.Thread{ID: id, Name: q.Name(), Label: q.Name(), Agent: q.Title}}
		s.State = thread.StateReport{State: thread.StateApproval, Since: q.Since, Question: &thread.Question{ID: string(id), Text: q.Text, Since: q.Since}}
		t.asks[id] = asked{q, s}
		t.asking = append(t.asking, id)
	}
	t.list()
	t.stale = true
}

// list puts the questions among the threads.
func (t *Tree) list() {
	for id, a := range t.asks {
		t.threads[id] = a.row
		t.cards[id] = cardOf(a.row)
	}
}

// Asked returns the question that the cursor is on, nil if it is on a thread.
func (t *Tree) Asked() *thread.NodeQuestion {
	t.sort()
	if a, is := t.asks[t.selected]; is {
		return &a.of
	}
	return nil
}

// SelectAsked moves the cursor to a question.
func (t *Tree) SelectAsked(q thread.NodeQuestion) bool { return t.Select(askedID(q)) }

// listed returns all that stands in the list: the threads, oldest first, and then what is asked.
func (t *Tree) listed() []*thread.Status {
	all := t.All()
	for _, id := range t.asking {
		all = append(all, t.threads[id])
	}
	return all
}
