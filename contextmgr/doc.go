// Package contextmgr is the home of all that stands between an agent and its model: the wire
// formats, the gateway that carries the requests, and what is known about models and tokens.
// It holds no code itself.
package contextmgr
