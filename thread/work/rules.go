package work

import (
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// maxText is the longest text of an event or an execution that a store keeps. Callers cut theirs earlier.
const maxText = 16 << 10

// maxTitle is the longest title of a task, and the longest text that is searched by, in bytes.
const maxTitle = 500

// maxWhole is the longest text of an event that has it in full.
const maxWhole = 1 << 20

// Added returns an execution as a store keeps it once it is added, with its first event. A run is Queued, one of another
// kind in the state that it has, which is Deployed or Running. Its name is the person's, or "" if the store is to number
// it. An execution that no store may accept is refused with thread.ErrInvalid.
func Added(x Execution, now time.Time) (Execution, Event, error) {
	if err := checkAdded(x); err != nil {
		return Execution{}, Event{}, err
	}
	if x.Kind == KindRun {
		x.State, x.Attempt, x.Fence, x.Server, x.Process = Queued, 0, 0, "", ""
		x.Started = time.Time{}
	}
	x.Ended, x.Given, x.Said = time.Time{}, 0, 0
	if x.Created.IsZero() {
		x.Created = now
	}
	x = normal(x)
	return x, Event{At: x.Created, Attempt: x.Attempt, State: x.State}, nil
}

func checkAdded(x Execution) error {
	if err := thread.ID(x.ID).Check(); err != nil {
		return thread.Kindf(thread.ErrInvalid, "execution id %q", string(x.ID))
	}
	switch {
	case !slices.Contains(Kinds(), x.Kind):
		return thread.Kindf(thread.ErrInvalid, "kind %q of an execution is not known", string(x.Kind))
	case x.Kind != KindRun && x.State != Deployed && x.State != Running:
		return thread.Kindf(thread.ErrInvalid, "an execution cannot be added as %q", string(x.State))
	}
	if x.Kind != KindHand || x.Thread != "" {
		if err := x.Thread.Check(); err != nil {
			return err
		}
	}
	check := CheckName
	if x.Kind == KindHand {
		check = CheckOwnName
	}
	if x.Name != "" {
		if err := check(x.Name); err != nil {
			return err
		}
	}
	if x.Kind != KindRun {
		return nil
	}
	return CheckRules(x.Lost, x.Dispose)
}

// CheckRules refuses a policy or disposal that there is not, with thread.ErrInvalid.
func CheckRules(lost Policy, dispose Disposal) error {
	if !slices.Contains([]Policy{PolicyAsk, PolicyResume, PolicyRetry, PolicyFail}, lost) {
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "policy %q for a lost run is not known", string(lost)),
			"take ask, resume, retry or fail")
	}
	if !slices.Contains([]Disposal{DisposeKeep, DisposeBranch, DisposeMerge, DisposeDrop}, dispose) {
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "%q is no way to dispose of a worktree", string(dispose)),
			"take branch, merge or drop, or none to keep it")
	}
	return nil
}

// Claimed returns a queued execution as a server that claims it gets it, and the event; ErrFence if it is not queued.
func Claimed(x Execution, server string, at time.Time) (Execution, Event, error) {
	if x.State != Queued {
		return Execution{}, Event{}, ErrFence
	}
	x.State, x.Server, x.Process, x.Reason = Deployed, server, "", ""
	x.Started, x.Ended, x.After, x.Failure = time.Time{}, time.Time{}, time.Time{}, Failure{}
	x.Waited, x.Settled = 0, false
	x.Attempt++
	x.Fence++
	return x, Event{At: utc(at), Attempt: x.Attempt, State: Deployed}, nil
}

// Changed returns an execution after a change, and its events: those given, then the change of state if they do not tell
// it. Take raises the fence. What identifies an execution, its attempt and its fence are not the caller's to change, and
// a state that may not follow is refused, both with thread.ErrInvalid. An error of change is returned unchanged.
func Changed(old Execution, take bool, change func(*Execution) error, events []Event, now time.Time) (Execution, []Event, error) {
	x := old
	if err := change(&x); err != nil {
		return Execution{}, nil, err
	}
	if x.ID != old.ID || x.Name != old.Name || x.Kind != old.Kind || x.Thread != old.Thread || x.By != old.By || x.Depth != old.Depth ||
		x.Attempt != old.Attempt || x.Fence != old.Fence || !x.Created.Equal(old.Created) {
		return Execution{}, nil, thread.Kindf(thread.ErrInvalid, "%s: what it is and its attempt do not change", old.Name)
	}
	if err := checkFollows(old, x.State); err != nil {
		return Execution{}, nil, err
	}
	if take {
		x.Fence++
	}
	if x.State != NeedsInput {
		x.Question = nil
	}
	switch {
	case x.State == Queued:
		x.Server, x.Ended = "", time.Time{}
	case x.State.Final() && x.Ended.IsZero():
		x.Ended = now
	}
	if x.State == Failed && old.State != Failed && x.Failure.At.IsZero() { // whoever ends it says why; nothing fails without a class
		x.Failure = Classify(Ending{Reason: x.Reason}, now)
	}
	x = normal(x)
	events = Noted(x, events, now)
	if x.State != old.State && !slices.ContainsFunc(events, func(e Event) bool { return e.State == x.State }) {
		events = append(events, Event{At: utc(now), Attempt: x.Attempt, State: x.State, Text: x.Reason})
	}
	return x, events, nil
}

// Noted returns events as a store keeps them: with their time and attempt, in UTC and UTF-8. The store numbers them.
func Noted(x Execution, events []Event, now time.Time) []Event {
	out := make([]Event, len(events), len(events)+1)
	for i, e := range events {
		if e.At.IsZero() {
			e.At = now
		}
		if e.Attempt == 0 {
			e.Attempt = x.Attempt
		}
		e.Seq, e.At = 0, utc(e.At)
		if e.Kind == KindGiven || e.Kind == KindSaid {
			e.Text = plaintext.Cut(plain(e.Text), maxWhole)
		} else {
			e.Text = text(e.Text)
		}
		out[i] = clean(e)
	}
	return out
}

// Noting returns an execution that has an event, which has its number: one of all that it was asked, or said, is known by it.
func (x Execution) Noting(e Event) Execution {
	switch e.Kind {
	case KindGiven:
		x.Given = e.Seq
	case KindSaid:
		x.Said = e.Seq
	}
	return x
}

// normal returns an execution as stores keep it: times in UTC, texts in UTF-8 and bounded.
func normal(x Execution) Execution {
	x.Created, x.Started, x.Ended = utc(x.Created), utc(x.Started), utc(x.Ended)
	x.After, x.Failure.At, x.Failure.Until = utc(x.After), utc(x.Failure.At), utc(x.Failure.Until)
	x.Reason, x.Answer, x.Scope = text(x.Reason), text(x.Answer), text(x.Scope)
	for _, s := range []*string{&x.Session, &x.Type, &x.Agent, &x.Model, &x.Bundle} { // columns with an index
		*s = plaintext.Cut(*s, maxTitle)
	}
	x.Failure.What = text(x.Failure.What)
	if x.Question != nil {
		q := *x.Question
		q.Since, q.Text, q.About, q.Choices = utc(q.Since), text(thread.Shown(q.Text)), text(thread.Shown(q.About)), slices.Clone(q.Choices)
		for i, c := range q.Choices {
			q.Choices[i].Text = text(thread.Shown(c.Text))
		}
		x.Question = &q
	}
	return clean(x)
}

// utc returns a time without what a store does not keep.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Round(0)
}

func text(s string) string { return plaintext.Cut(plain(s), maxText) }

// Size returns how many executions a query may return.
func (q Query) Size() int {
	if q.Limit <= 0 {
		return 100
	}
	return min(q.Limit, 1000)
}

// EventLimit returns how many events a store returns at most, of those that are asked for.
func EventLimit(limit int) int {
	if limit <= 0 {
		return 1000
	}
	return min(limit, 10_000)
}

// Damaged returns what lists show of an execution whose record cannot be read.
func Damaged(id ID, name string, of thread.ID) Execution {
	return Execution{ID: id, Name: name, Thread: of, State: Failed, Reason: "its record is damaged"}
}

// DamagedEvent returns what stands for an event that cannot be read.
func DamagedEvent(seq int64) Event {
	return Event{Seq: seq, Kind: "note", Text: "this line of the record is damaged"}
}
