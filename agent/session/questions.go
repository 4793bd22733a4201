package session

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

const (
	// maxQuestion is how much of a question, and of each of its choices, is shown, in bytes.
	maxQuestion = 4 << 10
	// maxChoices is how many choices a question may have: with more it is answered by its first ones only.
	maxChoices = 20
)

// questions are those that a run's agent waits for an answer to, in the order of asking. Each has an id that no other
// question ever has, of whichever process: an answer that comes late finds none.
type questions struct {
	run   string // random
	asked int
	open  []question
}

// question is one of them.
type question struct {
	own  string          // its id for the dialogue
	as   thread.Question // as it was asked
	told thread.Question // as people see it
}

// ask takes a question, and returns it as people see it. One that is open and asked again as it was is not new; one that
// has changed takes the place of the old one, which is withdrawn.
func (q *questions) ask(asked thread.Question, now time.Time) (told thread.Question, withdrawn *thread.Question, isNew bool) {
	if i := q.index(func(o question) bool { return o.own == asked.ID }); i >= 0 {
		old := q.open[i]
		asked.Since = old.as.Since
		if reflect.DeepEqual(old.as, asked) {
			return old.told, nil, false
		}
		withdrawn = &old.told
		q.open = slices.Delete(q.open, i, i+1)
	}
	if q.run == "" {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails
		q.run = hex.EncodeToString(b[:])
	}
	q.asked++
	told = shown(asked)
	told.ID, told.Since = fmt.Sprintf("%s-%d", q.run, q.asked), now
	q.open = append(q.open, question{own: asked.ID, as: asked, told: told})
	return told, withdrawn, true
}

// answered takes away the question that a dialogue names; nil if there is none.
func (q *questions) answered(own string) *thread.Question {
	i := q.index(func(o question) bool { return o.own == own })
	if i < 0 {
		return nil
	}
	told := q.open[i].told
	q.open = slices.Delete(q.open, i, i+1)
	return &told
}

// all takes away all that are open.
func (q *questions) all() []question {
	open := q.open
	q.open = nil
	return open
}

// find returns the question that people know by an id; nil if it is not open.
func (q *questions) find(id string) *question {
	if i := q.index(func(o question) bool { return o.told.ID == id }); i >= 0 {
		return &q.open[i]
	}
	return nil
}

// first returns what is to be answered first; nil if nothing is asked.
func (q *questions) first() *thread.Question {
	if len(q.open) == 0 {
		return nil
	}
	told := q.open[0].told
	return &told
}

func (q *questions) index(is func(question) bool) int { return slices.IndexFunc(q.open, is) }

// shown returns a question as people may see it: each text on one line, harmless and bounded, and a cut is seen.
func shown(q thread.Question) thread.Question {
	q.Text, q.About, q.Title = oneLine(q.Text), oneLine(q.About), oneLine(q.Title)
	q.Choices = slices.Clone(q.Choices[:min(len(q.Choices), maxChoices)])
	for i := range q.Choices {
		q.Choices[i].Text = oneLine(q.Choices[i].Text)
	}
	return q
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(plaintext.Text(strings.ToValidUTF8(s, "\ufffd"))), " ")
	if head := plaintext.Cut(s, maxQuestion); head != s {
		return fmt.Sprintf("%s\u2026 (%s more)", head, thread.Bytes(int64(len(s)-len(head))))
	}
	return s
}
