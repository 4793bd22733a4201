// Package api is the protocol between the server of a project and its clients: JSON requests over a unix socket,
// server-sent events for streams, a WebSocket for terminal bytes.
//
// Each operation is one typed constant (see calls.go) that both sides use: the server's handler and the client's
// call cannot disagree about its name, its request or its answer. A call is POST Prefix + name with a JSON body; the
// answer is JSON, or an Error with a status of 400 or more. Version changes when an older side would misread a newer
// one.
package api

import "orchestrator/thread/ledger"

// Version of the protocol.
const Version = 2

// Prefix of all paths.
const Prefix = "/v1/"

// ServerInfo says which server answers, and how it is.
type ServerInfo struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the program
	Build    string `json:"build"`   // of the program
	PID      int    `json:"pid"`
	Project  string `json:"project"`
	StateDir string `json:"stateDir"`
	Store    string `json:"store"`
	// Sizes are lines about what is stored and what it takes; only when they were asked for.
	Sizes []string `json:"sizes,omitempty"`
	// Account is what was spent lately and what providers said of their limits; only with Sizes.
	Account *ledger.Account `json:"account,omitempty"`
	// Problems are what the server found at its start and people should know.
	Problems []string `json:"problems,omitempty"`
	// Notices are what every verb names: what the store found damaged and nobody has dismissed, and a store that
	// cannot be reached, the weightiest last. They are among Problems too.
	Notices []string `json:"notices,omitempty"`
	// Found is what the server found at its start and set right or could not: the verb that started it names it. It is
	// among Problems too.
	Found   []string `json:"found,omitempty"`
	Running int      `json:"running"`
	// Seq is the number of the newest event.
	Seq int64 `json:"seq,omitempty"`
	// NoRepository is set where forks share one folder.
	NoRepository bool `json:"noRepository,omitempty"`
}

// TokenHeader carries the token of an agent that the client runs below.
const TokenHeader = "Orchestrator-Token"

// Size of a terminal, as clients tell it in a text frame.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}
