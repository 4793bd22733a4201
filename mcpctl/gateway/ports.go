package gateway

import (
	"context"
	"encoding/json"
	"io"

	"orchestrator/thread"
)

// Tool is a tool of a server as the server describes it.
type Tool struct {
	Name string
	Raw  json.RawMessage
}

// Server is a server that is switched on for a thread.
type Server struct {
	ID string
	// Tools are those that the agent may see, Prompts, Resources and Templates the raw items of its other lists.
	Tools                         []Tool
	Prompts, Resources, Templates []json.RawMessage
	// StageChars is the size in bytes above which a result is staged; 0 means the default.
	StageChars int
}

// Found is a tool that somebody searched for.
type Found struct {
	Server, Tool, Description string
	On                        bool // switched on for the thread
}

// Caller is whom a call is made for.
type Caller interface {
	Thread() thread.ID
	// Dir is the folder of the thread.
	Dir() string
	// Progress passes on a report about the call, with the token that the call came with.
	Progress(params json.RawMessage)
	// Ask passes a question of the server to the agent. It fails if the agent takes none.
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Servers are the servers behind the gateway.
type Servers interface {
	// On returns the servers that are switched on for a thread, by ID. It does not wait for any of them.
	On(thread.ID) []Server
	// Off is why a server cannot be used by a thread now, in a sentence; empty if it can, or if there is none of that
	// name.
	Off(id thread.ID, server, tool string) string
	// Call calls a method of a server that is on. The error is an *rpc.Error if the server answered with one.
	Call(ctx context.Context, server string, c Caller, method string, params json.RawMessage) (json.RawMessage, error)
	// Find searches the tools of all servers that could be used.
	Find(ctx context.Context, id thread.ID, query string) []Found
}

// Stager keeps large results.
type Stager interface {
	Stage(context.Context, thread.StageRequest, io.Reader) (thread.Staged, error)
	// Read writes a selection of what is staged under a token, as people write tokens.
	Read(ctx context.Context, id thread.ID, token string, part thread.Selection, to io.Writer) error
}

// Work are the tasks of plans, for the agents that take part in them. Who asks is known from the connection: nothing that an
// agent says names the task, or itself. What is refused is an error whose text the agent is told.
type Work interface {
	// Runs returns how a thread runs: which tools it has follows from that, and from nothing that changes.
	Runs(thread.ID) thread.Once
	// Deliverable returns what is to be said of what an agent of the plan has handed over, and its data as that gave it.
	Deliverable(ctx context.Context, id thread.ID, agent string, version int) (about string, data io.Reader, err error)
	// HandOver hands over for the thread's agent, and returns what became of that.
	HandOver(ctx context.Context, id thread.ID, h HandOver) (string, error)
	// Spawn starts a run of the thread's agent, and returns how it stands; if it is to wait, once it has ended or waiting takes
	// too long.
	Spawn(ctx context.Context, id thread.ID, s Spawn) (string, error)
	// Status returns how the thread's part of the task stands, or one of its runs if that is named.
	Status(ctx context.Context, id thread.ID, run string) (string, error)
}

// HandOver is what an agent hands over.
type HandOver struct {
	Summary string
	Data    string   // the text of a JSON value; of what is no JSON, the text
	Files   []string // in its folder
}

// Spawn is a run that an agent asks for.
type Spawn struct {
	Prompt, Agent, Tier string
	Writes, Wait        bool
}
