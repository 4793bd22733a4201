package thread

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"orchestrator/thread/secret"
)

// PromptID identifies a prompt for good: "p" and 12 hex digits.
type PromptID string

// NewPromptID returns a random one.
func NewPromptID() PromptID {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return PromptID("p" + hex.EncodeToString(b[:]))
}

// PromptState is the state of a prompt.
type PromptState string

// The states of a prompt: queued, typing and open in this order, and the ways in which it ends. Later evidence may
// still turn an interrupted, refused or taken prompt into an answered one.
const (
	PromptQueued PromptState = "queued" // accepted and durable, not typed: Reason says what it waits for
	PromptTyping PromptState = "typing" // being typed
	PromptOpen   PromptState = "open"   // the agent has it and has not answered yet

	PromptAnswered    PromptState = "answered"    // Answer is the checkpoint of its turn
	PromptInterrupted PromptState = "interrupted" // cut off before it was answered: Reason says how
	PromptRefused     PromptState = "refused"     // the agent or its provider did not take it: Reason says why
	PromptCancelled   PromptState = "cancelled"   // withdrawn before it was typed
	// PromptMoved is one that goes on in a fork, because it did not fit into the context any more: Fork is that thread, once
	// it is made.
	PromptMoved PromptState = "moved"
	// PromptTaken is one that was typed and taken, but whose answer is not reported: a command that the agent runs itself,
	// or a program that reports nothing.
	PromptTaken PromptState = "taken"
)

// Over reports whether a prompt has ended.
func (s PromptState) Over() bool {
	return s != PromptQueued && s != PromptTyping && s != PromptOpen
}

// Again reports whether a prompt in this state can be sent again.
func (s PromptState) Again() bool { return s == PromptInterrupted || s == PromptRefused }

// PromptOrigin describes where a prompt comes from.
type PromptOrigin string

// The origins.
const (
	FromVerb   PromptOrigin = "verb"   // sent by a verb
	FromPane   PromptOrigin = "pane"   // typed by the person in the agent itself
	FromNote   PromptOrigin = "note"   // one of our own, such as after a merge
	FromFirst  PromptOrigin = "first"  // the first prompt of a new thread or fork
	FromPrimer PromptOrigin = "primer" // one of our own: the summary for a session that starts without its past
)

// MaxPrompt is the most bytes of text that a prompt may have.
const MaxPrompt = 4 << 20

// Prompt is a prompt for an agent. It is stored from the moment that it is accepted: one from a verb before it is
// typed, one typed in the agent itself at the first evidence of it.
type Prompt struct {
	ID     PromptID     `json:"id"`
	Thread ID           `json:"thread"`
	Seq    int64        `json:"seq"` // the order of acceptance, set by the store; never reused
	From   PromptOrigin `json:"from"`
	// Text is complete while it may have to be typed, and a redacted excerpt once it is answered; Cut is set if it is not
	// the whole text.
	Text   string      `json:"text"`
	Cut    bool        `json:"cut,omitempty"`
	State  PromptState `json:"state"`
	Reason string      `json:"reason,omitempty"` // for people
	// Turn is the number of the turn that answers it, 0 while unknown; Answer is that turn's checkpoint.
	Turn   int          `json:"turn,omitempty"`
	Answer CheckpointID `json:"answer,omitempty"`
	// Rewound is set in lists if a rewind undid that turn. It is not stored.
	Rewound bool `json:"rewound,omitempty"`
	// With is set if one turn answers several prompts: the one that names the turn.
	With PromptID `json:"with,omitempty"`
	// Steered is set if it was given to an agent that worked on a turn: it is a part of that turn.
	Steered bool `json:"steered,omitempty"`
	// Lines is as in AskRequest.
	Lines bool `json:"lines,omitempty"`
	// Fork is the thread in which it goes on.
	Fork ID `json:"fork,omitempty"`
	// By is the thread whose agent asks, "" for a person, and Within the execution that this agent works on, "" for none: that
	// pays for what the prompt becomes.
	By     ID     `json:"by,omitempty"`
	Within string `json:"within,omitempty"`
	// Again is the prompt that this one repeats.
	Again    PromptID  `json:"again,omitempty"`
	Accepted time.Time `json:"accepted"`
	Opened   time.Time `json:"opened,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
}

// Unanswered reports whether a prompt has ended and no turn tells of it.
func (p Prompt) Unanswered() bool {
	return (p.State.Again() || p.State == PromptTaken) && p.Answer == "" && p.From != FromPrimer
}

// Brief returns the prompt with a redacted excerpt of its text.
func (p Prompt) Brief() Prompt {
	text := Excerpt(p.Text)
	p.Cut = p.Cut || text != p.Text
	p.Text, p.Reason = text, secret.Redact(p.Reason)
	return p
}

// Prompts stores prompts.
type Prompts interface {
	// PutPrompt stores a prompt, or replaces the one with its ID; it is durable, also across a power cut, when it returns.
	// The first put numbers the prompt and returns the number as Seq. ErrNotFound without the thread.
	PutPrompt(context.Context, Prompt) (Prompt, error)
	// Prompt returns one, ErrNotFound if there is none.
	Prompt(context.Context, PromptID) (Prompt, error)
	// Prompts returns the newest prompts of a thread, or of all threads if id is empty, at most limit of them, oldest
	// first; open leaves out those that have ended. A limit of 0 means 100.
	Prompts(ctx context.Context, id ID, open bool, limit int) ([]Prompt, error)
}

// AskRequest is a prompt for a thread's agent.
type AskRequest struct {
	Text string
	From PromptOrigin // FromVerb when empty
	// Lines is the person's consent to typing a text of several lines into a program that may run each of them.
	Lines bool
	// Agent is set if an agent sends it, and not the person; By is the thread in which that agent runs, if it is known.
	Agent bool
	By    ID
	// Untyped is set if the prompt must not be typed into a terminal that the person has opened on a thread which otherwise
	// runs without: it is the error then.
	Untyped error
}
