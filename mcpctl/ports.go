package mcpctl

import (
	"context"
	"log/slog"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/discovery"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
	"orchestrator/thread/frozen"
)

// Threads are the threads of the project.
type Threads interface {
	// Find returns a thread by its id or by any name that people use.
	Find(ref string) (thread.Thread, error)
	// Environ is the environment that a thread's agent was started with if that is not our own process's, otherwise nil.
	Environ(thread.ID) []string
	// Working reports whether a turn of the thread is running.
	Working(thread.ID) bool
	// All returns the ids of all threads with an agent that runs.
	Running() []thread.ID
	// SetMCP stores decisions for a thread.
	SetMCP(ctx context.Context, ref string, next func(thread.MCPSwitches) thread.MCPSwitches) error
	// Suggest offers to switch a server on.
	Suggest(id thread.ID, server, why string)
	// Changed tells people's screens that the servers of a thread, or of all if id is empty, have changed.
	Changed(id thread.ID)
	// Notice tells people something about a thread.
	Notice(id thread.ID, level thread.Level, text string)
	// Prompts returns the newest prompts of all threads, for the rates of patterns.
	Prompts(ctx context.Context, limit int) ([]string, error)
}

// Agents is told about agents' connections.
type Agents interface {
	// Changed tells a thread's agent that its lists have changed.
	Changed(thread.ID)
	// Drop ends the connections of a thread's agent.
	Drop(thread.ID)
}

// Freshness is what is known of how an agent follows changes of its tools.
type Freshness interface {
	// Followed returns when a thread's agent was last told of a change, and when it last read its tools.
	Followed(thread.ID) (told, read time.Time)
	// Current reports whether it has them as they are now.
	Current(thread.ID) bool
	// Given reports whether it was given a tool of a server, or any if the tool is empty.
	Given(id thread.ID, server, tool string) bool
	// Remind tells it once more that they have changed, if it does not have them as they are now.
	Remind(thread.ID)
}

// Copies keeps copies of files.
type Copies interface {
	// Keep returns a folder that holds exactly these entries; frozen.ErrChanged if they are not what they were.
	Keep([]frozen.Entry) (string, error)
}

// Config configures a Controller.
type Config struct {
	Project string // its folder
	// Off is set if agents are left to their own configuration.
	Off    bool
	Places discovery.Places
	Trust  *trust.Store
	// Copies keeps what was accepted of the project's files, from where it is started.
	Copies  Copies
	Threads Threads
	// Memory remembers which servers the tasks of this project used; nil for none.
	Memory *match.Memory
	// Hub is the configuration of the servers behind; the Controller fills in Launch, Changed and Event.
	Hub hub.Config
	// Takes reports whether an agent takes servers from us; nil if all do.
	Takes func(agent string) bool
	// Env is the person's environment: variables in definitions are looked up there, and servers get little of it.
	Env []string
	// Bridge is the program with arguments that connects an agent, and Registered a name that nobody can guess.
	Bridge     []string
	Registered string
	// Tokens counts the tokens of a text.
	Tokens func(string) int
	// CacheCost returns what a thread's provider reads again if the tools change.
	CacheCost func(thread.ID) (tokens int64, usd float64)
	// SignIn begins to sign in to a remote server, with an environment, and returns the page for it; nil if that is not
	// possible.
	SignIn func(ctx context.Context, l definition.Launch, env []string, done func(error)) (page string, err error)
	Log    *slog.Logger
}
