package recording

import (
	"context"
	"time"

	"orchestrator/thread"
)

// Live is the current state of a thread. Its methods may take a lock for a moment.
type Live interface {
	Thread() thread.Thread
	// Gone reports whether the thread was purged.
	Gone() bool
	// SessionTaken reports whether another thread has a session.
	SessionTaken(session string) (bool, error)
	// Windows are the context windows that the agent is configured with; see thread.World.
	Windows() map[string]int64
	// Newer is closed once another answer has arrived that waits to be recorded.
	Newer() <-chan struct{}
	// SideCost is the cost of side requests that no stored checkpoint includes.
	SideCost() float64
	// Later runs a step of the thread's queue after a while, unless the server stops before.
	Later(wait time.Duration, step func(ctx context.Context))
}

// Prompts are the prompts of a thread, as far as turns answer them. Each method may store prompts, and may wait while
// others store some.
type Prompts interface {
	// Claim returns the prompts that a text contains, of those that the agent has and that no turn is known to answer.
	Claim(said string) []thread.Prompt
	// Missed returns the prompts that a text contains, of those that seemed lost.
	Missed(said string) []thread.Prompt
	// Answering returns the prompts that a turn is about, as they are stored with its response. fresh are those that
	// Claim returned; if there are none, it is one that seemed lost, or one that nobody reported. first is the prompt that
	// names the turn, "" for the first of those that are returned. told is set if a hook has reported one of them.
	Answering(said string, fresh []thread.Prompt, turn int, first thread.PromptID) (asked []thread.Prompt, told bool)
	// Ended returns the prompts of the turn that a checkpoint ends, as they are stored with it. why is the reason for
	// people, if the turn did not end by itself.
	Ended(asked []thread.PromptID, c thread.Checkpoint, why string) []thread.Prompt
	// Of returns the prompts of a stored checkpoint's turn that may still change.
	Of(c thread.Checkpoint) []thread.PromptID
	// Stored takes over prompts that were stored with a checkpoint.
	Stored(prompts []thread.Prompt)
	// Lost ends prompts whose checkpoint can never be stored.
	Lost(prompts []thread.Prompt)
}

// Reports receives what a recorder did, in the order in which it happened, in steps of the thread's queue. The recorder
// holds no lock meanwhile.
type Reports interface {
	// Read reports a response that was found in the agent's transcript. A main one is not durable until Answered. It
	// returns how many main requests have begun.
	Read(e thread.Exchange) (requests int)
	// Stored reports a checkpoint that is durable.
	Stored(ctx context.Context, s Stored)
	// Answered reports that an answer is durable with everything that belongs to it, or that it was given up, which
	// Notice has reported before.
	Answered(ctx context.Context, a Answered)
	// Recorded reports a main response that was recorded, for subscribers. The store may still refuse it.
	Recorded(ctx context.Context, r Response)
	// Adopted reports that the agent continues in another session.
	Adopted(ctx context.Context, session string)
	// Refused reports why the store refuses a checkpoint. It holds until a Stored that is Over.
	Refused(why string)
	// Waiting reports how many checkpoints the store has refused so far, and how many of them are not in the spool
	// either.
	Waiting(pending, unsaved int)
	// Notice shows people a message about the thread.
	Notice(level thread.Level, text string)
}

// Stored is a checkpoint that is durable.
type Stored struct {
	Checkpoint thread.Checkpoint
	SideCost   float64 // of side requests, included in its gauge
	Over       bool    // the store had refused checkpoints, and has them all now
}

// Answered is what an answer says about the thread's state, which counts once the answer is durable.
type Answered struct {
	Evidence thread.Evidence
	Requests int  // main requests begun when it ended: if there are more now, it is outdated
	EndsTurn bool // somebody should look at it
}

// Response is a main response that was recorded.
type Response struct {
	thread.Exchange
	News  []thread.Item // added to the conversation
	First bool          // of its turn
	Turn  int
	Began thread.CheckpointID // the checkpoint that its turn is based on
	Head  thread.CheckpointID // the newest checkpoint
	Gauge thread.Gauge
}
