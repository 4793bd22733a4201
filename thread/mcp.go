package thread

import (
	"time"
)

// MCPReach is what an agent's package says of the MCP servers of a run.
type MCPReach struct {
	// Given is set if the agent was given the server.
	Given bool `json:"given,omitempty"`
	// Offered is set if the agent was told where the server is, and may connect to it or not.
	Offered bool `json:"offered,omitempty"`
	// Live is set if it takes changes of the tools while it runs.
	Live bool `json:"live,omitempty"`
	// AtTurn is set if it reads a changed list of tools when its next turn begins, and not before.
	AtTurn bool `json:"atTurn,omitempty"`
	// Deferred is set if tools are not part of the prompt until they are used, so that a change costs no prompt cache.
	Deferred bool `json:"deferred,omitempty"`
	// Keeps is set if it goes on showing its model the tools that it has shown it, although they are switched off: a sentence
	// that says so.
	Keeps string `json:"keeps,omitempty"`
	// Outside is what may start servers past us, a sentence each.
	Outside []string `json:"outside,omitempty"`
}

// MCPQuery asks for the MCP servers, for a thread if one is named, otherwise as threads in a folder of the project have
// them; with neither, in the project's own.
type MCPQuery struct {
	Thread string `json:"thread,omitempty"`
	Dir    string `json:"dir,omitempty"` // absolute
}

// MCPReport is what is known of the MCP servers, for a thread.
type MCPReport struct {
	Servers []MCPServer `json:"servers"`
	// Problems are what is wrong in configuration files.
	Problems []MCPProblem `json:"problems,omitempty"`
	// Takes is when a switch takes effect for the thread's agent: "at once", "at the next resume", ….
	Takes string `json:"takes,omitempty"`
	// None is set if the thread's agent takes no servers from us, whatever is switched on.
	None bool `json:"none,omitempty"`
	// CacheTokens are the tokens that the provider reads again without its cache after a change of the tools, and CacheUSD
	// what that costs; 0 if a change costs nothing or it is not known.
	CacheTokens int64   `json:"cacheTokens,omitempty"`
	CacheUSD    float64 `json:"cacheUsd,omitempty"`
	// Outside is what is not under our control for the thread's agent, a sentence each.
	Outside []string `json:"outside,omitempty"`
	// Tokens are those of all definitions that the thread's agent gets, All those of every server that is known.
	Tokens int64 `json:"tokens"`
	All    int64 `json:"all"`
}

// MCPProblem is something wrong in a configuration file.
type MCPProblem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// MCPSource is a place where a server is configured.
type MCPSource struct {
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"`
	Agent string `json:"agent,omitempty"`
	Scope string `json:"scope"` // "local", "user", "project"
}

// MCPServer is a configured MCP server, as a thread has it.
type MCPServer struct {
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	Sources   []MCPSource `json:"sources,omitempty"`
	Transport string      `json:"transport"` // "stdio", "http", "sse"
	Target    string      `json:"target"`    // command or URL without secrets
	// Trusted is set for one that the person configured, not a repository.
	Trusted bool `json:"trusted"`
	// Accepted is set if exactly this may be started; Changed if something else was accepted under its name before.
	Accepted bool `json:"accepted"`
	Changed  bool `json:"changed,omitempty"`
	// Rejected is set if the person has said no to exactly this.
	Rejected bool `json:"rejected,omitempty"`
	// ChangedIn is the folder of the thread in which it starts something else than what was accepted.
	ChangedIn string   `json:"changedIn,omitempty"`
	Hash      string   `json:"hash,omitempty"` // of its launch
	Problem   string   `json:"problem,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`

	State  string `json:"state"` // "cold", "ready", …
	Reason string `json:"reason,omitempty"`
	// Kept says that the agent goes on showing its model tools of it that are off; empty if it shows none.
	Kept    string    `json:"kept,omitempty"`
	Retry   time.Time `json:"retry,omitzero"`
	Share   string    `json:"share"` // "thread", "project"
	Memory  int64     `json:"memory,omitempty"`
	Starts  int       `json:"starts,omitempty"`
	PID     int       `json:"pid,omitempty"`
	CallMS  float64   `json:"callMs,omitempty"` // how long its last call took
	Called  time.Time `json:"called,omitzero"`
	Pattern []string  `json:"patterns,omitempty"`

	// Known is set if its tools are known, without which the numbers below are 0.
	Known    bool  `json:"known"`
	Tools    int   `json:"tools,omitempty"`
	ToolsOn  int   `json:"toolsOn,omitempty"`
	Withheld int   `json:"withheld,omitempty"` // changed since they were accepted, or not usable
	Tokens   int64 `json:"tokens,omitempty"`   // of the definitions of those that are on

	On bool `json:"on"`
	// Ending is set while it is still on because the running turn has not ended.
	Ending bool   `json:"ending,omitempty"`
	By     MCPBy  `json:"by,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Box is how a server is switched, as a check box: on, on by a pattern, to be accepted, or not as it should be.
func (s *MCPServer) Box() string {
	switch {
	case s.Problem != "" || s.State == "failed":
		return "[!]"
	case !s.Accepted:
		return "[?]"
	case s.Withheld > 0:
		return "[!]"
	case s.On && s.By == MCPPattern:
		return "[a]"
	case s.On:
		return "[x]"
	default:
		return "[ ]"
	}
}

// SwitchedBy returns who or what switched a server on.
func (s *MCPServer) SwitchedBy() string {
	by := map[MCPBy]string{MCPDefault: "default", MCPPerson: "you", MCPOffer: "offered"}[s.By]
	if by != "" && s.Why != "" {
		by += ": "
	}
	return by + s.Why
}

// MCPDetail is everything about one server.
type MCPDetail struct {
	MCPServer
	// Launch is exactly what is started, a line each; Diff how it differs from what was accepted.
	Launch []string  `json:"launch"`
	Diff   []string  `json:"diff,omitempty"`
	List   []MCPTool `json:"list,omitempty"`
	// ToolsHash is that of the definitions that are withheld, for accepting exactly them.
	ToolsHash string   `json:"toolsHash,omitempty"`
	Log       []string `json:"log,omitempty"`
	// Rates say how often each pattern would have fired on the project's past prompts.
	Rates []MCPRate `json:"rates,omitempty"`
	// Page is where the person signs in, after that was asked for.
	Page string `json:"page,omitempty"`
}

// MCPTool is a tool of a server.
type MCPTool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // with hidden characters made visible
	Tokens      int64  `json:"tokens"`
	On          bool   `json:"on"`
	// Unusable is why no agent can get it: it is no valid tool, or its configuration leaves it out. Withheld says why
	// none gets it until the person has accepted it; Diff how its definition has changed.
	Unusable string   `json:"unusable,omitempty"`
	Withheld string   `json:"withheld,omitempty"`
	Diff     []string `json:"diff,omitempty"`
	Hidden   []string `json:"hidden,omitempty"` // what is hidden in its definition
}

// MCPRate is how often a pattern fires.
type MCPRate struct {
	Pattern string `json:"pattern"`
	Fired   int    `json:"fired"`
	Of      int    `json:"of"`
	Problem string `json:"problem,omitempty"`
}

// MCPChange switches an MCP server, or one of its tools, for a thread.
type MCPChange struct {
	Thread string `json:"thread"`
	Server string `json:"server"`
	Tool   string `json:"tool,omitempty"`
	On     bool   `json:"on"`
	// Force switches off at once, and not at the end of the running turn.
	Force bool `json:"force,omitempty"`
}

// MCPAct is something done to a server: "restart", "approve", "approve-tools", "reject", "revoke", "login".
type MCPAct struct {
	Act    string `json:"act"`
	Server string `json:"server"`
	Thread string `json:"thread,omitempty"`
	Dir    string `json:"dir,omitempty"` // as in MCPQuery
	// Hash is what the person saw: that of the launch for "approve" and "reject", ToolsHash for "approve-tools".
	Hash string `json:"hash,omitempty"`
}

// MCPCall calls a tool of a server for a thread.
type MCPCall struct {
	Thread    string `json:"thread,omitempty"`
	Dir       string `json:"dir,omitempty"` // as in MCPQuery
	Server    string `json:"server"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments,omitempty"` // a JSON object
}

// MCPResult is what a tool answered.
type MCPResult struct {
	Result string `json:"result"` // JSON, as the server sent it
}

// MCPTask is a text of which is asked what servers it needs.
type MCPTask struct {
	Thread string `json:"thread,omitempty"`
	Dir    string `json:"dir,omitempty"` // as in MCPQuery
	Text   string `json:"text"`
}

// MCPWhy has the servers that a text would switch on or suggest, and why.
type MCPWhy struct {
	Server  string  `json:"server"`
	On      bool    `json:"on"` // a pattern switches it on
	Why     string  `json:"why"`
	Score   float64 `json:"score,omitempty"`
	Blocked string  `json:"blocked,omitempty"` // why it is not switched on all the same
}
