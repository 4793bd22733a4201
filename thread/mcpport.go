package thread

import "context"

// ServerStarter can wait for servers before an agent asks for their tools. Optional for MCP.
type ServerStarter interface {
	// Started waits until the servers have started that a prompt has just switched on for a thread, a few seconds at most.
	Started(ctx context.Context, id ID)
}

// MCP controls the MCP servers of agents. Its methods return soon, but for Ready, and may be called while a thread is
// locked, but for Ready and Take.
type MCP interface {
	// Enabled returns what a thread has switched on, in the form of a checkpoint's list.
	Enabled(ID) []string
	// Prompt tells a prompt as soon as it is known: when it is stored to be typed, when a hook reports it, and when it is
	// in a model request. The same prompt may be told more than once.
	Prompt(id ID, text string)
	// Ready waits until the agent has connected and has its tools as they are switched now, or the context ends. If the
	// agent does not read them in time, it says so and returns. It returns at once if nothing was switched since the agent
	// read them.
	Ready(ctx context.Context, id ID)
	// Launch returns how a thread's agent reaches its servers; nil if the agent is left to its own configuration.
	Launch(Thread) *MCPLaunch
	// Launched tells what the agent's package made of it.
	Launched(ID, MCPReach)
	// Take switches on a server that was suggested.
	Take(ctx context.Context, id ID, server, why string) error
	// TurnEnded tells that a turn's last answer is durable.
	TurnEnded(ID)
	// Restored tells that a thread's switches were changed by something else than this port.
	Restored(ID)
	// Ended tells that a thread's agent is not running any more.
	Ended(ID)
	// Forget lets go of a thread that is removed for good.
	Forget(ID)
}

// ServerTaker is an agent that takes MCP servers from us: that its launch says whether it was given them.
type ServerTaker interface{ TakesServers() bool }

// MCPName is the name of the one server that agents are given, or the beginning of it.
const MCPName = "orch"

// MCPOwnTools are the tools of that server that are our own, of a thread that runs so: two that read what is the thread's, and
// change nothing, and those by which an agent takes part in a plan's task. They follow from how the thread was made alone, so
// that they stay the same for its life.
func MCPOwnTools(o Once) []string {
	names := []string{"find_tool", "retrieve"}
	if o.Part != (Part{}) {
		names = append(names, "deliverable_get", "deliverable_put", "stage")
	}
	if o.Part != (Part{}) || o.Spawn.Depth > 0 {
		names = append(names, "status")
	}
	if o.Spawn.Depth > 0 {
		names = append(names, "spawn")
	}
	for i, name := range names {
		names[i] = MCPName + "__" + name
	}
	return names
}

// MCPLaunch is how an agent reaches the one MCP server that it is given.
type MCPLaunch struct {
	// Name is the server's name for agents whose configuration nobody else can add to, Registered for the others: a
	// repository cannot guess it.
	Name, Registered string
	// Command is the program with its arguments that speaks MCP on its standard streams.
	Command []string
	// Foreign are the servers that the agents' own files configure, by agent. The agent must start none of them.
	Foreign map[string][]MCPForeign
	// Distrust is set if the repository's files for the agent configure servers that nobody has accepted.
	Distrust map[string]bool
}

// MCPForeign is a server in an agent's own configuration.
type MCPForeign struct {
	Name   string
	Remote bool // it is reached by a URL
}
