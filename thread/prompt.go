package thread

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"orchestrator/thread/secret"
)

// PromptID names a prompt for ever: "p" and 12 hex digits.
type PromptID string

// NewPromptID returns a random one.
func NewPromptID() PromptID {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return PromptID("p" + hex.EncodeToString(b[:]))
}

// PromptState is how far a prompt got.
type PromptState string

// The states of a prompt: queued, typing and open in this order, and the ways in which it ends. Later evidence may
// make one that was interrupted, refused or taken an answered one.
const (
	PromptQueued PromptState = "queued" // accepted and durable, not typed: Reason says what it waits for
	PromptTyping PromptState = "typing" // being typed
	PromptOpen   PromptState = "open"   // the agent has it, and has not answered yet

	PromptAnswered    PromptState = "answered"    // Answer is the checkpoint of its turn
	PromptInterrupted PromptState = "interrupted" // cut off before it was answered: Reason says how
	PromptRefused     PromptState = "refused"     // the agent or its provider did not take it: Reason says why
	PromptCancelled   PromptState = "cancelled"   // withdrawn before it was typed
	// PromptTaken is one that was typed and taken where nothing tells of an answer: a command that the agent carries
	// out itself, or a program that reports nothing.
	PromptTaken PromptState = "taken"
)

// Over reports whether nothing more is expected to come of a prompt.
func (s PromptState) Over() bool {
	return s != PromptQueued && s != PromptTyping && s != PromptOpen
}

// Again reports whether a prompt in this state can be sent again.
func (s PromptState) Again() bool { return s == PromptInterrupted || s == PromptRefused }

// PromptOrigin says where a prompt comes from.
type PromptOrigin string

// The origins.
const (
	FromVerb   PromptOrigin = "verb"   // sent to a thread
	FromPane   PromptOrigin = "pane"   // typed by the person in the agent itself
	FromNote   PromptOrigin = "note"   // our own, such as after a merge
	FromFirst  PromptOrigin = "first"  // came with a new thread or a fork
	FromPrimer PromptOrigin = "primer" // our own: what a session that starts without its past is told of it
)

// Prompt is something that an agent is asked. It is stored from the moment that it is accepted: by a verb before it
// is typed, in the agent itself at the first evidence of it.
type Prompt struct {
	ID     PromptID     `json:"id"`
	Thread ID           `json:"thread"`
	Seq    int64        `json:"seq"` // the order of acceptance, given by the store; never used twice
	From   PromptOrigin `json:"from"`
	// Text is whole while it may have to be typed, and an excerpt without secrets once it is answered; Cut is set
	// where it is not the whole text.
	Text   string      `json:"text"`
	Cut    bool        `json:"cut,omitempty"`
	State  PromptState `json:"state"`
	Reason string      `json:"reason,omitempty"` // for people
	// Turn is the number of the turn that answers it, 0 while none is known; Answer that turn's checkpoint.
	Turn   int          `json:"turn,omitempty"`
	Answer CheckpointID `json:"answer,omitempty"`
	// With is set where one turn answers several prompts: the one that the turn is named by.
	With PromptID `json:"with,omitempty"`
	// Again is the prompt that this one repeats.
	Again    PromptID  `json:"again,omitempty"`
	Accepted time.Time `json:"accepted"`
	Opened   time.Time `json:"opened,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
}

// Brief returns the prompt with an excerpt of its text, without the secrets in it.
func (p Prompt) Brief() Prompt {
	text := Excerpt(p.Text)
	p.Cut = p.Cut || text != p.Text
	p.Text, p.Reason = text, secret.Redact(p.Reason)
	return p
}

// Prompts stores prompts.
type Prompts interface {
	// PutPrompt stores a prompt, or replaces the one with its ID; it is durable, power cut included, when it returns.
	// The order among prompts is given at the first put and returned as Seq. ErrNotFound without the thread.
	PutPrompt(context.Context, Prompt) (Prompt, error)
	// Prompt returns one, ErrNotFound when there is none.
	Prompt(context.Context, PromptID) (Prompt, error)
	// Prompts returns the newest prompts of a thread, or of all threads where it is empty, at most limit of them,
	// oldest first; open leaves out those that are over. A limit of 0 means 100.
	Prompts(ctx context.Context, id ID, open bool, limit int) ([]Prompt, error)
}

// AskRequest is a prompt for a thread's agent.
type AskRequest struct {
	Text string
	From PromptOrigin // FromVerb when empty
}
