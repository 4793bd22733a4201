// Package protocol carries the calls of package api over a unix socket: a call is POST Prefix + its name with a JSON
// body, its response is JSON, or an Error with a status of 400 or more; streams are server-sent events, and a terminal
// is a WebSocket.
package protocol

const (
	// Prefix of all paths.
	Prefix = "/v1/"
	// TokenHeader carries the token of the agent that runs the client.
	TokenHeader = "Orchestrator-Token"
	// RequestQuery is the query parameter with the request of an upload, as JSON.
	RequestQuery = "request"
	// ErrorTrailer is the trailer with the error of a download, as JSON.
	ErrorTrailer = "Orchestrator-Error"
)
