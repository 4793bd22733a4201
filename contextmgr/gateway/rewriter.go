package gateway

import (
	"context"
	"net/url"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Rewriter decides what is sent in place of the agents' requests.
type Rewriter interface {
	// Rewrite is called for each request in a known format while the request waits to be sent. The zero Rewritten sends it
	// as it came, and so does a panic.
	Rewrite(ctx context.Context, o Outgoing) Rewritten
}

// Keeper is a Rewriter that keeps something of threads in memory.
type Keeper interface {
	// Rest is called when a thread's agent has ended, Forget when the thread is removed for good. Requests may still be
	// on their way.
	Rest(thread.ID)
	Forget(thread.ID)
}

// Outgoing is a request that is about to be sent.
type Outgoing struct {
	Thread thread.ID
	Codec  wire.Codec
	// Call has an uncompressed body, which does not change until Rewritten.Ended has returned. Its header contains
	// credentials.
	Call wire.Call
	// To is where the request goes.
	To *url.URL
	// Window returns the context window of a model in tokens, 0 if it is unknown: of its long variant, or with so many
	// tokens in use.
	Window func(model string, long bool, used int64) int64
	// Notice shows people something about the thread.
	Notice func(level thread.Level, text string)
}

// Rewritten is what is sent in place of a request.
type Rewritten struct {
	// Body is sent uncompressed; nil sends the request as it came.
	Body []byte
	// Request is the request as the agent sent it, if it has been read.
	Request *wire.Request
	// Context is how many tokens are likely sent, 0 if that is not known, Margin by how much that may be wrong, as a
	// fraction, and Masked how many tokens of the agent's request are left out.
	Context int64
	Margin  float64
	Masked  int64
	// Size is how many tokens are sent at most, as far as that is known, also beside the conversation; 0 if it is not.
	Size int64
	// Refusal is why the request is not sent at all, "" if it is. The agent gets it as an error with this status.
	Refusal string
	Status  int
	// Ended, if it is set, is called when the exchange is over, before it is reported, in the order of the thread's
	// requests. It may change what is reported.
	Ended func(e *thread.Exchange)
}
