package work

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Waits reports whether a person must agree before an execution of a work session with this policy starts. Who has agreed
// once has agreed to all attempts.
func (a Approval) Waits(x Execution) bool {
	switch {
	case x.Agreed || x.Attempt > 0 || a == ApproveAuto:
		return false
	case a == ApproveManual:
		return true
	default:
		return x.By != ""
	}
}

// Approvals returns all policies.
func Approvals() []Approval { return []Approval{ApproveManual, ApproveSuggest, ApproveAuto} }

// Moves reports whether an execution moves a task, or a work session, that by has recorded ("" for a person). What an agent
// says it does moves only what that agent has recorded itself.
func (x Execution) Moves(by thread.ID) bool { return x.Kind != KindHand || x.By == "" || x.By == by }

// TaskStatusOf returns the status of a task by its executions: it is in progress while one of them has begun and not all have
// ended, and is then what the last one became. Without any it is pending. What was done stays done when a later one of them was
// cancelled or lost.
func TaskStatusOf(all []Execution) TaskStatus {
	begun, open := false, false
	var last, decided Execution // the latest of all, and of those that completed or failed
	for _, x := range all {
		open = open || !x.State.Final()
		begun = begun || x.State != Queued
		if x.State.Final() && (last.ID == "" || x.Ended.After(last.Ended)) {
			last = x
		}
		if (x.State == Completed || x.State == Failed) && (decided.ID == "" || x.Ended.After(decided.Ended)) {
			decided = x
		}
	}
	if (last.State == Cancelled || last.State == Lost) && decided.State == Completed {
		last = decided
	}
	switch {
	case open && begun:
		return TaskInProgress
	case open || last.ID == "":
		return TaskPending
	case last.State == Completed:
		return TaskComplete
	case last.State == Cancelled:
		return TaskCancelled
	default:
		return TaskFailed
	}
}

// The longest title of a task and the longest type of an agent, in characters.
const (
	mostTitle = 200
	mostType  = 60
)

// CheckBelongs refuses what cannot be the work session, the task and the agent type of an execution, with thread.ErrInvalid;
// "" is none of each. A task is one of a work session.
func CheckBelongs(session, task, agentType string) error {
	if session != "" {
		if err := CheckOwnName(session); err != nil {
			return fmt.Errorf("the work session: %w", err)
		}
	}
	switch {
	case session == "" && task != "":
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "the task %s of no work session", thread.Excerpt(task)), "name that too, with --session")
	case !oneLine(task, mostTitle):
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "the task %s", thread.Excerpt(task)), "its title is one line of at most 200 characters")
	case !oneLine(agentType, mostType):
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "the agent type %s", thread.Excerpt(agentType)), "it is a word or some, of at most 60 characters")
	}
	return nil
}

// oneLine reports whether a text is one harmless line of at most so many characters.
func oneLine(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && plaintext.Line(text) == text && strings.TrimSpace(text) == text
}
