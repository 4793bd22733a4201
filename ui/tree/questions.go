package tree

import (
	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// questions are what tasks of plans ask. Each stands among the threads that need the person, though it is none: its row is
// kept apart from the threads, and while the cursor is on it no thread is selected.
type questions struct {
	of  map[thread.ID]question // by the ids of their rows
	ids []thread.ID            // in order
}

// question is one, and as what it stands in the list.
type question struct {
	asked thread.NodeQuestion
	row   *thread.Status
}

// rowOf is the id of a question's row. No thread has such a name.
func rowOf(q thread.NodeQuestion) thread.ID { return thread.ID("?" + q.Name()) }

// is reports whether an id is that of a question.
func (a *questions) is(id thread.ID) bool {
	_, is := a.of[id]
	return is
}

// set replaces them.
func (a *questions) set(all []thread.NodeQuestion) {
	a.of, a.ids = make(map[thread.ID]question, len(all)), a.ids[:0]
	for _, q := range all {
		id := rowOf(q)
		s := &thread.Status{Thread: thread.Thread{ID: id, Name: q.Name(), Label: q.Name(), Agent: q.Title}}
		s.State = thread.StateReport{State: thread.StateApproval, Since: q.Since, Question: &thread.Question{ID: string(id), Text: q.Text, Since: q.Since}}
		a.of[id] = question{q, s}
		a.ids = append(a.ids, id)
	}
}

// put puts them among the threads.
func (a *questions) put(threads map[thread.ID]*thread.Status, cards map[thread.ID]card) {
	for id, q := range a.of {
		threads[id], cards[id] = q.row, cardOf(q.row)
	}
}

// card is what is derived of a thread's report.
type card struct {
	place thread.Place
	name  string
	waits bool
}

func cardOf(s *thread.Status) card {
	return card{place: s.Place(), name: plain.Line(s.TypedName()), waits: s.Archived.IsZero() && s.Waits()}
}
