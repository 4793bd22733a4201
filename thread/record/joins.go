package record

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

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
