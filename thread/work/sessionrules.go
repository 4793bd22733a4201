package work

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// maxMetadata is how long the metadata of a work session may be.
const maxMetadata = 64 << 10

// AddedSession returns a work session as a store keeps it once it is added. Its name is the person's, or "" if the store is
// to number it. One that no store may accept is refused with thread.ErrInvalid.
func AddedSession(s Session, now time.Time) (Session, error) {
	if s.Name != "" {
		if err := CheckOwnName(s.Name); err != nil {
			return Session{}, err
		}
	}
	if s.Created.IsZero() {
		s.Created = now
	}
	s.Updated, s.Completed = s.Created, time.Time{}
	return keptSession(s, now)
}

// ChangedSession returns a work session after a change. What it is called, who made it and when do not change, and what is
// final stays so: the first is refused with thread.ErrInvalid, the second with thread.ErrRefused. An error of change is
// returned unchanged.
func ChangedSession(old Session, change func(*Session) error, now time.Time) (Session, error) {
	s := old
	if err := change(&s); err != nil {
		return Session{}, err
	}
	if s.Name != old.Name || s.By != old.By || !s.Created.Equal(old.Created) {
		return Session{}, thread.Kindf(thread.ErrInvalid, "%s: what a work session is does not change", old.Name)
	}
	if old.Status.Final() && s.Status != old.Status {
		return Session{}, thread.Kindf(thread.ErrRefused, "work session %s is %s and cannot become %s", old.Name, old.Status, s.Status)
	}
	s.Updated = now
	return keptSession(s, now)
}

// keptSession checks a work session and returns it as stores keep it.
func keptSession(s Session, now time.Time) (Session, error) {
	s.Status, s.Approval = cmp.Or(s.Status, SessionPlanning), cmp.Or(s.Approval, ApproveSuggest)
	switch {
	case s.Phase < 0 || s.Phase > PhaseConfirm:
		return Session{}, thread.Kindf(thread.ErrInvalid, "phase %d is none: they are 1 to 5", s.Phase)
	case !slices.Contains([]SessionStatus{SessionPlanning, SessionExecuting, SessionCompleted, SessionFailed, SessionCancelled}, s.Status):
		return Session{}, thread.Kindf(thread.ErrInvalid, "status %q of a work session is not known", string(s.Status))
	case !slices.Contains([]Approval{ApproveManual, ApproveSuggest, ApproveAuto}, s.Approval):
		return Session{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "policy %q is not known", string(s.Approval)), "take manual, suggest or auto")
	case s.WarnAt < 0 || s.WarnAt > 1:
		return Session{}, thread.Kindf(thread.ErrInvalid, "a warning at %v of the budget: it is a part, from 0 to 1", s.WarnAt)
	}
	if len(s.Metadata) > 0 {
		var err error
		if s.Metadata, err = raw("metadata", s.Metadata, maxMetadata); err != nil {
			return Session{}, err
		}
		if !bytes.HasPrefix(s.Metadata, []byte("{")) {
			return Session{}, thread.Kindf(thread.ErrInvalid, "metadata is no JSON object")
		}
	} else {
		s.Metadata = nil
	}
	if s.Status.Final() && s.Completed.IsZero() {
		s.Completed = now
	}
	s = clean(s)
	s.Scope = plaintext.Cut(s.Scope, maxText)
	s.Created, s.Updated, s.Completed = utc(s.Created), utc(s.Updated), utc(s.Completed)
	return s, nil
}

// DamagedSession returns what lists show of a work session whose record cannot be read.
func DamagedSession(name string) Session {
	return Session{Name: name, Scope: "its record is damaged", Status: SessionFailed, Approval: ApproveManual}
}

// ChangedTask returns the task of a work session with a title after a change, which is given a new one, with no time, if old
// is nil. Which task it is, who made it and when do not change: that is refused with thread.ErrInvalid. An error of change is
// returned unchanged.
func ChangedTask(session, title string, old *Task, change func(*Task) error, now time.Time) (Task, error) {
	t := Task{}
	if old != nil {
		t = *old
	}
	t.Session, t.Title = session, title
	if err := change(&t); err != nil {
		return Task{}, err
	}
	if t.Session != session || t.Title != title || old != nil && (t.By != old.By || !t.Created.Equal(old.Created)) {
		return Task{}, thread.Kindf(thread.ErrInvalid, "what a task is does not change")
	}
	if old != nil && t.Updated.Equal(old.Updated) {
		t.Updated = now
	}
	return keptTask(t, now)
}

// keptTask checks a task and returns it as stores keep it.
func keptTask(t Task, now time.Time) (Task, error) {
	t.Status = cmp.Or(t.Status, TaskPending)
	switch {
	case t.Title == "" || len(t.Title) > maxTitle:
		return Task{}, thread.Kindf(thread.ErrInvalid, "the title of a task has 1 to %d bytes", maxTitle)
	case !slices.Contains([]TaskStatus{TaskPending, TaskInProgress, TaskComplete, TaskFailed, TaskCancelled}, t.Status):
		return Task{}, thread.Kindf(thread.ErrInvalid, "status %q of a task is not known", string(t.Status))
	}
	if t.Created.IsZero() {
		t.Created = now
	}
	if t.Updated.IsZero() {
		t.Updated = now
	}
	t = clean(t)
	t.Body = plaintext.Cut(t.Body, maxText)
	t.Created, t.Updated = utc(t.Created), utc(t.Updated)
	return t, nil
}

// Size returns how many work sessions a query may return.
func (q SessionQuery) Size() int { return Query{Limit: q.Limit}.Size() }

// Selects reports whether a query asks for a work session.
func (q SessionQuery) Selects(s Session) bool {
	return (len(q.Statuses) == 0 || slices.Contains(q.Statuses, s.Status)) && (q.By == "" || q.By == s.By)
}

// text of JSON that stands for what cannot be read.
func damagedText() json.RawMessage { return json.RawMessage(`"its record is damaged"`) }
