package jsonline

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

const (
	// MaxOpen is how many questions of a run may wait at once.
	MaxOpen = 64
	// maxChoices is how many choices a question may have.
	maxChoices = 32
)

// asks are the questions of a run that wait for an answer, the oldest first.
type asks []thread.Question

// add adds a question, cut to what people can read, or puts it in the place of the one with its id; not if it has no id, or
// too many are open.
func (a *asks) add(q thread.Question) (added thread.Question, ok bool) {
	at := a.find(q.ID)
	if q.ID == "" || len(q.ID) > maxName || len(q.Choices) > maxChoices || at < 0 && len(*a) >= MaxOpen {
		return q, false
	}
	q.Text, q.About = plaintext.OneLine(q.Text, maxInput), short(flat(q.About), maxInput)
	q.Choices = slices.Clone(q.Choices)
	for i := range q.Choices {
		q.Choices[i].Text = plaintext.OneLine(q.Choices[i].Text, maxName)
	}
	if at >= 0 {
		(*a)[at] = q
	} else {
		*a = append(*a, q)
	}
	return q, true
}

// answer takes out a question that is answered, and returns what the person says.
func (a *asks) answer(id string, choice int, text string) (q thread.Question, said string, err error) {
	at := a.find(id)
	if at < 0 {
		return q, "", thread.Kindf(thread.ErrRefused, "the question is not open any more")
	}
	q = (*a)[at]
	switch {
	case choice < thread.Dismiss || choice >= len(q.Choices):
		return q, "", thread.Kindf(thread.ErrInvalid, "answer %d: it offers %d", choice+1, len(q.Choices))
	case choice >= 0 && text == "":
		said = q.Choices[choice].Text
	case choice >= 0:
		said = q.Choices[choice].Text + ": " + text
	case text == "":
		said = "dismissed"
	default:
		said = text
	}
	*a = slices.Delete(*a, at, at+1)
	return q, said, nil
}

// take takes out a question; false if it is not open.
func (a *asks) take(id string) (q thread.Question, ok bool) {
	at := a.find(id)
	if at < 0 {
		return q, false
	}
	q = (*a)[at]
	*a = slices.Delete(*a, at, at+1)
	return q, true
}

// find returns where a question is, -1 if it is not open.
func (a *asks) find(id string) int {
	return slices.IndexFunc(*a, func(q thread.Question) bool { return q.ID == id })
}
