package work

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
)

// ErrFence means that an execution is no longer what the caller believes: another start, a cancellation or another server
// came first. Nothing was changed.
var ErrFence = errors.New("the execution has gone on without this server")

// Store stores executions. What it returns without an error is durable, also across a power cut. Errors are those of
// package thread: ErrNotFound, ErrNameTaken, ErrUnreachable, ErrDamaged …; ErrFence is this package's.
type Store interface {
	// Add stores an execution, a run as Queued, with its first event and those given, and returns it with its name: unless it
	// has one, the next "exec-NNN" of the project that nobody has taken (the prefix is its kind's). Adding one with a known ID
	// returns what is stored. A work session that there is not is ErrNotFound, one that is final ErrRefused, for kinds that
	// join it.
	Add(ctx context.Context, x Execution, events ...Event) (Execution, error)
	// Claim gives a Queued execution to a server, in one transaction: Deployed, Attempt and Fence raised. Of two servers
	// that claim it at once, the other gets ErrFence.
	Claim(ctx context.Context, id ID, server string, at time.Time) (Execution, error)
	// Change reads, changes and writes an execution in one transaction, with events, if fence is that which is stored; else
	// ErrFence, and nothing is written. A state that may not follow on the stored one is ErrInvalid. An error of change is
	// returned unchanged. A change of state becomes an event by itself.
	Change(ctx context.Context, id ID, fence int64, change func(*Execution) error, events ...Event) (Execution, error)
	// Supersede is Change for who takes an execution away from its server: it raises the fence, whatever it was.
	Supersede(ctx context.Context, id ID, change func(*Execution) error, events ...Event) (Execution, error)
	// Append adds events, if fence is that which is stored.
	Append(ctx context.Context, id ID, fence int64, events ...Event) error

	// Execution finds one by id or name. Names are unique in the project, and a number is never given twice.
	Execution(ctx context.Context, ref string) (Execution, error)
	// Executions lists some runs, newest first.
	Executions(ctx context.Context, q Query) ([]Execution, error)
	// Open returns the runs that are not final, oldest first.
	Open(ctx context.Context) ([]Execution, error)
	// Events returns at most limit events of an execution that follow on after, oldest first; a limit of 0 means 1000.
	Events(ctx context.Context, id ID, after int64, limit int) ([]Event, error)
	// Purge removes the final executions of threads that have gone, but for those by hand, with what they were given and what
	// came of them, and returns how many.
	Purge(ctx context.Context, threads []thread.ID) (int, error)
}

// Query selects executions.
type Query struct {
	Thread thread.ID // "" for all
	States []State   // none for all
	Before ID        // only older ones than this; "" for the newest
	Limit  int       // 0 means 100; at most 1000
}
