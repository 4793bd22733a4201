package ui

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/diff"
)

// The messages that effects end in. Those that can come late carry what they were asked for.

// subscribedMsg begins a stream of events.
type subscribedMsg struct {
	gen    int
	events <-chan thread.Event
	err    error
}

// eventsMsg is what came since the last one; over is set when the stream ended.
type eventsMsg struct {
	gen    int
	events []thread.Event
	over   bool
}

// listedMsg is all threads.
type listedMsg struct {
	threads []thread.Status
	since   int64 // the newest event that was known when they were asked for
	err     error
}

type agentsMsg struct {
	agents []thread.AgentInfo
	err    error
}

type mcpMsg struct {
	servers []thread.MCPServer
	err     error
}

type retryMsg struct{ gen int }

// settledMsg says that the selection rests.
type settledMsg struct{ gen int }

// lookedMsg says that a person has looked at a thread for a while.
type lookedMsg struct {
	gen int
	id  thread.ID
}

type timelineMsg struct {
	id   thread.ID
	page []thread.Checkpoint
	err  error
}

// asideMsg is a thread's turns with those that a rewind left behind.
type asideMsg struct {
	id    thread.ID
	turns []thread.Checkpoint
	err   error
}

type turnMsg struct {
	id      thread.ID
	at      thread.CheckpointID
	entries []thread.Entry
	err     error
}

type diffMsg struct {
	id    thread.ID
	what  diff.Range
	files []thread.FileDiff
	err   error
}

type whyMsg struct {
	into   *dialog.Text
	report thread.StateReport
	err    error
}

// madeMsg is a thread that was made or started; it is selected.
type madeMsg struct {
	what   string // "fork": told where it failed
	said   string // "forked": told where it worked
	status thread.Status
	err    error
	focus  bool
}

// resumedMsg is the outcome of resuming all.
type resumedMsg struct {
	threads []thread.Status
	err     error
}

// doneMsg is the outcome of something that changes a thread.
type doneMsg struct {
	what string // for people, told when it worked; empty says nothing
	err  error
	undo *undoStep
}

// mergedMsg is what a merge did or, into an open dialog, would do.
type mergedMsg struct {
	mergePlan
	dialog *dialog.Ask
	report thread.MergeReport
	err    error
}

// rewindMsg is what a rewind did; rewindPlanMsg what it would do.
type rewindMsg struct {
	req    thread.RewindRequest
	report thread.RewindReport
	err    error
}

type rewindPlanMsg struct {
	into  *dialog.Ask
	id    thread.ID
	at    string
	turn  int
	files []thread.FileDiff
	err   error
}

type foundMsg struct {
	gen  int
	into *dialog.Picker
	hits []thread.Hit
	err  error
}

// noticeOverMsg takes a notice off the status line.
type noticeOverMsg struct{ gen int }

// partingMsg says that no text followed a letter that quits.
type partingMsg struct{ gen int }

// lateMsg says that the first list should have come.
type lateMsg struct{}

// frameMsg draws what events changed; secondMsg lets the clock on screen go on.
type frameMsg struct{}
type secondMsg struct{}

// editedMsg says that the editor was left.
type editedMsg struct{ err error }
