package record

import (
	"cmp"
	"context"
	"errors"

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

// admits reports whether an author may add to a work session, and so sees it: an agent adds to what it has begun itself, and
// to the work session of its thread. To know a name is not enough.
func (c Config) admits(ctx context.Context, a Author, s work.Session) (bool, error) {
	if !a.Agent || s.Admits(a.Thread, "") {
		return true, nil
	}
	if a.Thread == "" || c.Belongs == nil {
		return false, nil
	}
	own, err := c.Belongs(ctx, a.Thread)
	if errors.Is(err, thread.ErrNotFound) {
		return false, nil
	}
	return s.Admits(a.Thread, own), err
}

// joined returns a work session to which an author may add.
func (c Config) joined(ctx context.Context, a Author, name string) (work.Session, error) {
	s, err := c.Store.Session(ctx, name)
	if err != nil {
		return s, c.unknownSession(ctx, a, name, err)
	}
	may, err := c.admits(ctx, a, s)
	if err == nil && !may {
		err = thread.Hint(thread.Kindf(thread.ErrNotGranted, "the work session %s is another's: an agent adds to its own, and to that of its thread", s.Name),
			"begin one with `orchestrator session init`, or ask the user to start you in it")
	}
	return s, err
}

// session returns a work session that an author sees: one to which it may add, and those in which executions were done
// by its thread, or for it. What it has only written down does not count.
func (c Config) session(ctx context.Context, a Author, name string) (work.Session, error) {
	s, err := c.Store.Session(ctx, name)
	if err != nil {
		return s, c.unknownSession(ctx, a, name, err)
	}
	if a.all() {
		return s, nil
	}
	may, err := c.admits(ctx, a, s)
	if err != nil || may {
		return s, err
	}
	done, err := c.Store.Recorded(ctx, work.RecordQuery{
		Session: s.Name, Seen: a.seen(), Kinds: []work.Kind{work.KindRun, work.KindTerminal, work.KindNative}, Limit: 1,
	})
	if err == nil && len(done) == 0 {
		err = unseen("the work session " + s.Name)
	}
	return s, err
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
