package record

import (
	"cmp"
	"context"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// What one agent may record: rows of all kinds, and their size.
const (
	maxRows  = 10_000
	maxBytes = 64 << 20
)

// mayRecord refuses an agent that is in no thread of this project, and one that has recorded as much as it may. bytes is
// about what is to be added.
func (c Config) mayRecord(ctx context.Context, a Author, bytes int) error {
	if !a.Agent {
		return nil
	}
	if a.Thread == "" {
		return thread.Hint(thread.Kindf(thread.ErrNotGranted, "an agent that is in no thread of this project records nothing here"),
			"start it with `orchestrator new` or `orchestrator run`")
	}
	rows, stored, err := c.Store.Written(ctx, a.Thread)
	switch {
	case err != nil:
		return err
	case rows >= maxRows:
		return thread.Hint(thread.Kindf(thread.ErrLimit, "the agent of this thread has recorded %d rows, and may not record more than %d", rows, maxRows),
			"the user can record the rest")
	case stored+int64(bytes) > maxBytes:
		return thread.Hint(thread.Kindf(thread.ErrLimit, "the agent of this thread has recorded %s, and may not record more than %s",
			thread.Bytes(stored), thread.Bytes(maxBytes)), "record shorter texts, or have the user record the rest")
	}
	return nil
}

// changes refuses an agent that would change what another recorded: what is named in what.
func (a Author) changes(by thread.ID, what string) error {
	if !a.Agent || a.Thread != "" && by == a.Thread {
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrNotGranted, "%s was recorded by another: an agent changes only what it has recorded itself", what),
		"ask the user to do it")
}

// all reports whether an author sees what others recorded.
func (a Author) all() bool { return !a.Agent || a.Reads }

// nobody is the id of no thread.
const nobody thread.ID = "nobody"

// seen is what restricts queries to what an author sees.
func (a Author) seen() *thread.ID {
	if a.all() {
		return nil
	}
	id := cmp.Or(a.Thread, nobody)
	return &id
}

// sees reports whether an author sees an execution.
func (a Author) sees(x work.Execution) bool {
	return a.all() || a.Thread != "" && (x.By == a.Thread || x.Thread == a.Thread)
}

// unseen is the error for what an author does not see.
func unseen(what string) error {
	return thread.Hint(thread.Kindf(thread.ErrNotGranted, "%s is another's: seeing it needs the grant %q", what, "read"),
		"ask the user for it: `orchestrator grants`")
}
