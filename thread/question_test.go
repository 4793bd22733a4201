package thread_test

import (
	"errors"
	"testing"

	"orchestrator/thread"
)

func TestChosen(t *testing.T) {
	q := thread.Question{Choices: []thread.Choice{
		{Text: "Yes", Means: thread.Approve}, {Text: "Yes, always", Means: thread.ApproveAlways}, {Text: "No", Means: thread.Deny},
	}}
	colours := thread.Question{Choices: []thread.Choice{{Text: "Red"}, {Text: "Blue"}}}
	for _, c := range []struct {
		name string
		r    thread.AnswerRequest
		q    thread.Question
		want int
		err  error
	}{
		{"nothing", thread.AnswerRequest{}, q, 0, thread.ErrInvalid},
		{"the first", thread.AnswerRequest{Choice: 1}, q, 0, nil},
		{"the last", thread.AnswerRequest{Choice: 3}, q, 2, nil},
		{"one too many", thread.AnswerRequest{Choice: 4}, q, 0, thread.ErrInvalid},
		{"below", thread.AnswerRequest{Choice: -1}, q, 0, thread.ErrInvalid},
		{"a meaning", thread.AnswerRequest{Means: thread.ApproveAlways, Choice: 1}, q, 1, nil},
		{"a meaning that is not offered", thread.AnswerRequest{Means: thread.Approve, Choice: 1}, colours, 0, thread.ErrRefused},
		{"no to a plan that has none", thread.AnswerRequest{Means: thread.Deny}, thread.Question{Kind: thread.QuestionPlan, Choices: colours.Choices}, thread.Dismiss, nil},
		{"no to colours", thread.AnswerRequest{Means: thread.Deny}, colours, 0, thread.ErrRefused},
		{"a text says no", thread.AnswerRequest{Text: "why?"}, q, 2, nil},
		{"a text where there is no no", thread.AnswerRequest{Text: "green"}, colours, thread.Dismiss, nil},
		{"a text where nothing can be chosen", thread.AnswerRequest{Text: "green"}, thread.Question{}, 0, thread.ErrRefused},
	} {
		got, err := c.r.Chosen(c.q)
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, got, err, c.want, c.err)
		}
	}
}
