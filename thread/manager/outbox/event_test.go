package outbox_test

import (
	"errors"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
)

// letters name the states in the table below; "-" is a prompt that was not known before.
var letters = map[byte]thread.PromptState{
	'-': "", 'Q': thread.PromptQueued, 'T': thread.PromptTyping, 'O': thread.PromptOpen, 'A': thread.PromptAnswered,
	'I': thread.PromptInterrupted, 'R': thread.PromptRefused, 'C': thread.PromptCancelled, 'K': thread.PromptTaken,
}

// TestNext looks at every event in every state. A dot is what cannot happen.
func TestNext(t *testing.T) {
	const from = "-QTOAIRCK"
	for e, to := range map[outbox.Event]string{
		outbox.Accepted:    "Q........",
		outbox.Edited:      ".Q.......",
		outbox.Cancelled:   ".C.......",
		outbox.Forgotten:   ".CCC.....",
		outbox.TypingBegan: "TT.......",
		outbox.Postponed:   "..Q......",
		outbox.Typed:       "..O......",
		outbox.Taken:       "..KK.....",
		outbox.Refused:     "..RR.....",
		outbox.Stopped:     "..II.....",
		outbox.Received:    "O.OO.OO.O",
		outbox.Answering:   "O.OO.OO.O",
		outbox.Answered:    "..AA.AA.A",
		outbox.Cut:         "..II.II.I",
		outbox.Lost:        "....III.I",
		"unheard of":       ".........",
	} {
		for i := range from {
			was := letters[from[i]]
			got, err := outbox.Next(was, e)
			if to[i] == '.' {
				if !errors.Is(err, thread.ErrRefused) || got != was {
					t.Errorf("%q, then %s: %q, %v; want it refused", was, e, got, err)
				}
			} else if want := letters[to[i]]; got != want || err != nil {
				t.Errorf("%q, then %s: %q, %v; want %q", was, e, got, err, want)
			}
		}
	}
}

func TestAfter(t *testing.T) {
	early, now := time.Unix(100, 0), time.Unix(200, 0)
	for _, c := range []struct {
		name string
		was  thread.Prompt
		e    outbox.Event
		want thread.Prompt
	}{
		{"accepted", thread.Prompt{}, outbox.Accepted, thread.Prompt{State: thread.PromptQueued, Reason: "why", Accepted: now}},
		{"typed", thread.Prompt{State: thread.PromptTyping}, outbox.Typed, thread.Prompt{State: thread.PromptOpen, Reason: "why", Opened: now}},
		{"dealt with at once", thread.Prompt{State: thread.PromptTyping}, outbox.Taken,
			thread.Prompt{State: thread.PromptTaken, Reason: "why", Opened: now, Ended: now}},
		{"dealt with later", thread.Prompt{State: thread.PromptOpen, Opened: early}, outbox.Taken,
			thread.Prompt{State: thread.PromptTaken, Reason: "why", Opened: early, Ended: now}},
		{"heard after its end", thread.Prompt{State: thread.PromptRefused, Opened: early, Ended: early}, outbox.Received,
			thread.Prompt{State: thread.PromptOpen, Reason: "why", Opened: now}},
		{"answering", thread.Prompt{State: thread.PromptInterrupted, Opened: early, Ended: early}, outbox.Answering,
			thread.Prompt{State: thread.PromptOpen, Reason: "why", Opened: early}},
		{"answering one that nobody told of", thread.Prompt{}, outbox.Answering, thread.Prompt{State: thread.PromptOpen, Reason: "why", Opened: now}},
		{"lost", thread.Prompt{State: thread.PromptAnswered, Answer: "c", Ended: early}, outbox.Lost,
			thread.Prompt{State: thread.PromptInterrupted, Reason: "why", Ended: early}},
		{"postponed", thread.Prompt{State: thread.PromptTyping}, outbox.Postponed, thread.Prompt{State: thread.PromptQueued, Reason: "why"}},
		{"refused change", thread.Prompt{State: thread.PromptQueued, Reason: "before"}, outbox.Answered, thread.Prompt{State: thread.PromptQueued, Reason: "before"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := outbox.After(c.was, c.e, now, "why")
			if got != c.want || (err != nil) != (c.was == c.want) {
				t.Errorf("After = %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}
