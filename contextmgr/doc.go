// Package contextmgr is the home of all that stands between an agent and its model: the wire
// formats, the gateway that carries the requests, what is known about models and tokens, and the
// data that is staged beside a context instead of in it.
// It holds no code itself.
package contextmgr
