package recording

import (
	"context"
	"time"

	"orchestrator/thread"
)

// Live is a thread as it is right now. Its methods may take a lock for a moment.
type Live interface {
	Thread() thread.Thread
	// Gone reports whether the thread was purged.
	Gone() bool
	// SessionTaken reports whether another thread has a session.
	SessionTaken(session string) bool
	// Direct reports whether its program runs without the gateway.
	Direct() bool
	// Windows is what its agent is configured with on how much models hold; see thread.Windower.
	Windows() map[string]int64
	// Backlog reports whether another answer has come that nothing was done about yet.
	Backlog() bool
	// SideCost is what those of its side requests cost that no stored checkpoint counts.
	SideCost() float64
	// Later runs a step of the thread's queue after a while, unless the server ends before.
	Later(wait time.Duration, step func(ctx context.Context))
}

// Prompts are what the thread's agent was asked. Each method may store prompts and wait for those who do.
type Prompts interface {
	// Claim returns the prompts that a text holds, of those that were given to the agent and that no turn is known to
	// answer.
	Claim(said string) []thread.Prompt
	// Answering notes that a turn is about the prompts that a text holds, and returns them as they are to be stored with
	// its response. fresh are those that Claim returned; with none, it is one that seemed to have come to nothing, or
	// that nobody told of before. first is the one that the turn is named by, "" for the first of these. told is set where
	// a hook has told of one.
	Answering(said string, fresh []thread.Prompt, turn int, first thread.PromptID) (asked []thread.Prompt, told bool)
	// Ended returns prompts as they are to be stored with the checkpoint that ends their turn; why says what cut it off.
	Ended(asked []thread.PromptID, c thread.Checkpoint, why string) []thread.Prompt
	// Of returns the prompts of a stored checkpoint's turn, as far as something may come of them.
	Of(c thread.Checkpoint) []thread.PromptID
	// Stored takes over prompts that were stored with a checkpoint.
	Stored(prompts []thread.Prompt)
	// Lost ends prompts whose checkpoint can never be stored.
	Lost(prompts []thread.Prompt)
}

// Reports hears what a recorder did, in the order in which it happened and in the steps of the thread's queue. A
// recorder holds no lock while it reports.
type Reports interface {
	// Read tells of a response that was found in the agent's transcript; a main one is not durable until Answered. It
	// returns how many main requests have begun.
	Read(e thread.Exchange) (requests int)
	// Stored tells of a checkpoint that is durable.
	Stored(ctx context.Context, s Stored)
	// Answered tells that an answer is durable with all that belongs to it, or was given up, which Notice has told.
	Answered(ctx context.Context, a Answered)
	// Recorded tells of a main response that has become part of the record; the store may still refuse it.
	Recorded(ctx context.Context, r Response)
	// Adopted tells that the agent continues in another session.
	Adopted(ctx context.Context, session string)
	// Refused tells why the store refuses a checkpoint, until Stored tells that none is refused any more.
	Refused(why string)
	// Waiting tells how many checkpoints the store has refused so far, and how many of those the spool does not have
	// either.
	Waiting(pending, unsaved int)
	// Notice tells people something about the thread.
	Notice(level thread.Level, text string)
}

// Stored is a checkpoint that is durable.
type Stored struct {
	Checkpoint thread.Checkpoint
	SideCost   float64 // of side requests, which its gauge counts
	Over       bool    // the store had refused some, and has them all now
}

// Answered is what an answer says of the thread's state, which counts once the answer is durable.
type Answered struct {
	Evidence thread.Evidence
	Requests int  // main requests that had begun when it ended: it is old where there are more now
	EndsTurn bool // there is something new to look at
}

// Response is a main response that was recorded.
type Response struct {
	thread.Exchange
	News  []thread.Item // that the conversation gained
	First bool          // of its turn
	Turn  int
	Began thread.CheckpointID // that its turn stands on
	Head  thread.CheckpointID // the newest checkpoint
	Gauge thread.Gauge
}
