// Package contextmgr contains what lies between an agent and its model: the wire formats, the gateway that forwards the
// requests, and the data about models and tokens. It has no code of its own.
package contextmgr
