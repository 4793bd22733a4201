package outbox_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
)

// ids returns the ids of some prompts.
func ids(ps []thread.Prompt) []string {
	out := []string{}
	for _, p := range ps {
		out = append(out, string(p.ID))
	}
	return out
}

func every(thread.Prompt) bool { return true }

// box returns an outbox with prompts, each named and worded by its place from 1 on.
func box(states ...thread.PromptState) *outbox.Outbox {
	o := &outbox.Outbox{}
	for i, s := range states {
		id := fmt.Sprint(i + 1)
		o.Keep(thread.Prompt{ID: thread.PromptID(id), Seq: int64(i + 1), Text: "text " + id, State: s})
	}
	return o
}

func TestKeep(t *testing.T) {
	t.Run("in its place", func(t *testing.T) {
		o := box(thread.PromptQueued, thread.PromptQueued)
		o.Keep(thread.Prompt{ID: "1", Seq: 1, State: thread.PromptTyping})
		if got := ids(o.Filter(every)); !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("prompts %q", got)
		}
		if p, ok := o.Prompt("1"); !ok || p.State != thread.PromptTyping {
			t.Errorf("the first is %+v", p)
		}
		if p, ok := o.Next(); !ok || p.ID != "2" {
			t.Errorf("next is %+v", p)
		}
	})
	t.Run("answered", func(t *testing.T) {
		o := box(thread.PromptInterrupted, thread.PromptOpen, thread.PromptInterrupted, thread.PromptQueued)
		o.Keep(thread.Prompt{ID: "2", Seq: 2, State: thread.PromptAnswered})
		if got := ids(o.Filter(every)); !slices.Equal(got, []string{"3", "4"}) {
			t.Errorf("prompts %q: what was before an answer is over", got)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		if got := ids(box(thread.PromptCancelled, thread.PromptQueued).Filter(every)); !slices.Equal(got, []string{"2"}) {
			t.Errorf("prompts %q", got)
		}
	})
	t.Run("asked again", func(t *testing.T) {
		o := box(thread.PromptRefused)
		o.Keep(thread.Prompt{ID: "2", Seq: 2, State: thread.PromptQueued, Again: "1"})
		if got := ids(o.Filter(every)); !slices.Equal(got, []string{"2"}) {
			t.Errorf("prompts %q", got)
		}
	})
	t.Run("many that are over", func(t *testing.T) {
		o := box(slices.Repeat([]thread.PromptState{thread.PromptRefused}, 25)...)
		if got := ids(o.Filter(every)); len(got) != 20 || got[0] != "6" {
			t.Errorf("%d prompts from %q on", len(got), got[0])
		}
	})
	t.Run("what is remembered of it", func(t *testing.T) {
		o := box(thread.PromptOpen)
		o.Begin("1", 3)
		o.MarkReported("1")
		if n, known := o.Begun("1"); n != 3 || !known || !o.Reported("1") {
			t.Errorf("begun %d %v, told %v", n, known, o.Reported("1"))
		}
		o.Keep(thread.Prompt{ID: "1", Seq: 1, State: thread.PromptAnswered})
		if _, known := o.Begun("1"); known || o.Reported("1") {
			t.Error("it is remembered after its end")
		}
	})
}

func TestClaim(t *testing.T) {
	for _, c := range []struct {
		name   string
		states []thread.PromptState
		said   string
		hook   bool
		told   thread.PromptID
		want   []string
		past   []string
	}{
		{"with the agent", []thread.PromptState{thread.PromptOpen, thread.PromptTyping}, "text 2", false, "", []string{"2"}, nil},
		{"waits", []thread.PromptState{thread.PromptQueued}, "text 1", false, "", nil, nil},
		{"came to nothing", []thread.PromptState{thread.PromptRefused, thread.PromptTaken}, "text 1", false, "", nil, []string{"1"}},
		{"told of by a hook", []thread.PromptState{thread.PromptOpen}, "text 1", true, "1", nil, nil},
		{"told of, then sent", []thread.PromptState{thread.PromptOpen}, "text 1", false, "1", []string{"1"}, nil},
		{"other words", []thread.PromptState{thread.PromptOpen, thread.PromptRefused}, "nothing of it", false, "", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := box(c.states...)
			if c.told != "" {
				o.MarkReported(c.told)
			}
			if got := ids(o.Claim(c.said, c.hook)); !slices.Equal(got, c.want) {
				t.Errorf("claimed %q, want %q", got, c.want)
			}
			if got := ids(o.ClaimPast(c.said)); !slices.Equal(got, c.past) {
				t.Errorf("claimed of the past %q, want %q", got, c.past)
			}
		})
	}
	o := box(thread.PromptRefused, thread.PromptInterrupted)
	for _, id := range []thread.PromptID{"1", "2"} {
		p, _ := o.Prompt(id)
		p.Text = "the same"
		o.Keep(p)
	}
	if got := ids(o.ClaimPast("the same")); !slices.Equal(got, []string{"2"}) {
		t.Errorf("of two alike %q is meant, want the newest", got)
	}
}

func TestGate(t *testing.T) {
	end := time.Date(2026, 1, 2, 14, 30, 0, 0, time.Local)
	for _, c := range []struct {
		gate outbox.Gate
		want string
	}{
		{outbox.Gate{}, "its agent is not running"},
		{outbox.Gate{Running: true, State: thread.StateIdle}, ""},
		{outbox.Gate{Running: true, State: thread.StateUnknown}, ""},
		{outbox.Gate{Running: true, Stopping: true, Silent: true}, "its agent is being stopped"},
		{outbox.Gate{Running: true, Silent: true, State: thread.StateWorking, Limit: end}, ""},
		{outbox.Gate{Running: true, State: thread.StateLimited, Limit: end}, "rate limited until 14:30:00"},
		{outbox.Gate{Running: true, State: thread.StateLimited}, ""},
		{outbox.Gate{Running: true, State: thread.StateWorking}, "its agent is working"},
		{outbox.Gate{Running: true, State: thread.StateSilent}, "its agent is working"},
		{outbox.Gate{Running: true, State: thread.StateApproval}, "its agent is waiting for you"},
		{outbox.Gate{Running: true, State: thread.StateQuestion}, "its agent is waiting for you"},
	} {
		if got := c.gate.Closed(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.gate, got, c.want)
		}
	}
}

// TestSuperseded holds that an agent whose last prompt changes with each request keeps the outbox small.
func TestSuperseded(t *testing.T) {
	o := &outbox.Outbox{}
	keep := func(n int, from thread.PromptOrigin, turn int, with thread.PromptID) {
		id := thread.PromptID(fmt.Sprint(n))
		o.Begin(id, n)
		o.Keep(thread.Prompt{ID: id, Seq: int64(n), From: from, State: thread.PromptOpen, Turn: turn, With: with})
	}
	keep(1, thread.FromPane, 7, "")
	keep(2, thread.FromVerb, 7, "1")
	keep(3, thread.FromPane, 6, "0")
	for n := range 300 {
		keep(10+n, thread.FromPane, 7*(n%2), thread.PromptID(fmt.Sprint(n%2))) // of the turn, or of none yet
		for _, p := range o.Superseded(7) {
			p.State = thread.PromptTaken
			o.Keep(p)
		}
	}
	open := o.Filter(func(p thread.Prompt) bool { return p.State == thread.PromptOpen })
	if got := ids(open); len(got) != 23 || got[0] != "1" || got[1] != "2" || got[2] != "3" || got[22] != "309" {
		t.Errorf("open are %q", got)
	}
	if n := len(o.Filter(every)); n > 50 {
		t.Errorf("%d prompts are kept", n)
	}
	if _, known := o.Begun("10"); known {
		t.Error("something of a forgotten prompt is remembered")
	}
	for _, p := range o.Filter(every) {
		if q, known := o.Prompt(p.ID); !known || q.ID != p.ID {
			t.Errorf("prompt %s is found as %s, %v", p.ID, q.ID, known)
		}
	}
}

// BenchmarkKeep changes one of many open prompts; the time must not grow with their number.
func BenchmarkKeep(b *testing.B) {
	for _, n := range []int{20, 2_500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := &outbox.Outbox{}
			for i := range n {
				id := thread.PromptID(fmt.Sprint(i))
				o.Begin(id, i)
				o.MarkReported(id)
				o.Keep(thread.Prompt{ID: id, Seq: int64(i + 1), State: thread.PromptOpen})
			}
			for i := 0; b.Loop(); i++ {
				o.Keep(thread.Prompt{ID: thread.PromptID(fmt.Sprint(i % n)), Seq: int64(i%n + 1), State: thread.PromptOpen})
			}
		})
	}
}
