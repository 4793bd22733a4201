// Package api lists what clients can ask of a project's server.
//
// Each operation is a typed constant (see calls.go) that both sides use, so that the server's handler and the client's
// call cannot disagree about its name, request or response. How they are carried is not part of it. Version changes
// when an older side would misread a newer one.
package api

// Version of the protocol.
const Version = 3

// ServerInfo identifies a server and describes its condition.
type ServerInfo struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the program
	Build    string `json:"build"`   // of the program
	PID      int    `json:"pid"`
	Project  string `json:"project"`
	StateDir string `json:"stateDir"`
	Store    string `json:"store"`
	// Sizes are lines about what is stored and how much space it takes; only on request.
	Sizes []string `json:"sizes,omitempty"`
	// Problems are warnings from the server's start, for the user.
	Problems []string `json:"problems,omitempty"`
	// Notices are printed by every verb: damage of the store that was not dismissed yet, and a store that cannot be
	// reached, the most important last. Problems includes them.
	Notices []string `json:"notices,omitempty"`
	// Unreadable are the turns that were found unreadable so far, a line for each thread. Notices include it.
	Unreadable []string `json:"unreadable,omitempty"`
	// Found is what the server found at its start and could or could not repair; the verb that started it prints it.
	// Problems includes it.
	Found   []string `json:"found,omitempty"`
	Running int      `json:"running"`
	// Differs names the variables of which the server has other values than the person's client; an agent is not told.
	Differs []string `json:"differs,omitempty"`
	// Seq is the number of the newest event.
	Seq int64 `json:"seq,omitempty"`
	// NoRepository is set if there is no repository, so that forks share one folder.
	NoRepository bool `json:"noRepository,omitempty"`
}

// Size is the size of a terminal, as clients send it in a text frame.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
	// Watch is set while the client only shows the terminal beside what the person works in.
	Watch bool `json:"watch,omitempty"`
}
