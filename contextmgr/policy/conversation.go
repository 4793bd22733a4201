package policy

import "time"

// ID names a result for good: a hash of what it is, so that the same conversation has the same ids wherever it goes on.
type ID string

// Kind describes what a result is, as far as that matters.
type Kind string

// The kinds. Only KindOutput and KindInput are ever masked.
const (
	KindOutput    Kind = ""
	KindInput     Kind = "input" // not a result but a tool's input, such as the text of a file that is written
	KindTodo      Kind = "todo"
	KindPlan      Kind = "plan"
	KindSkill     Kind = "skill"
	KindSubagent  Kind = "subagent"
	KindPerson    Kind = "person" // what the person answered
	KindServer    Kind = "run by the provider"
	KindNamed     Kind = "named in masking_keep"
	KindKept      Kind = "kept" // for another reason than its tool
	KindImage     Kind = "image"
	KindRetrieval Kind = "retrieval" // masked content that was read again
)

// Result is one result of a tool in a conversation, or the input of one.
type Result struct {
	ID   ID
	Tool string
	Kind Kind
	// Tokens and Lines are the size of its content as the agent sends it.
	Tokens int64
	Lines  int
	// Before is how many tokens stand before it in the request as it would be sent without a new mask.
	Before int64
	// Request is the number of the request that had it first.
	Request int
	Error   bool
	Masked  bool
	// Reads and Writes name a file that the tool read or wrote.
	Reads, Writes string
}

// Prices are relative to the price of input that goes past the cache.
type Prices struct {
	Read  float64 // of a token that is read from the cache
	Write float64 // of a token that is written to it
}

// Conversation is what is known when a request is about to be sent.
type Conversation struct {
	// Window is the model's in tokens, 0 if unknown.
	Window int64
	// Context is the request's size in tokens as it would be sent without a new mask.
	Context int64
	// New is how many tokens of it no request had before: they are written to the cache whatever is masked.
	New int64
	// Request is its number, from 0, and TurnBegins the number of the request with which the running turn began.
	Request, TurnBegins int
	// Growth is how many tokens a request adds on average.
	Growth float64
	// Results has all results and inputs in order, masked or not.
	Results []Result

	Prices Prices
	// Idle is the time since the last request, TTL how long the provider keeps a cache; 0 is unknown.
	Idle, TTL time.Duration
	// Cold is set if the cache is lost for another reason: another model or other tools, a resume, a compaction.
	Cold bool

	// Rereads is how many masked results were read again soon after they were masked, of the MaskedResults masked so far.
	Rereads, MaskedResults int
}

// Cached is how much of the context the request before had.
func (c Conversation) Cached() int64 { return max(0, c.Context-max(0, c.New)) }

// cold reports whether nothing of the request can be read from the cache.
func (c Conversation) cold() bool { return c.Cold || c.TTL > 0 && c.Idle > c.TTL }
