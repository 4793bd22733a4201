// Package contextmgr contains what lies between an agent and its model: the wire formats, the gateway that forwards the
// requests, the data about models and tokens, and what is staged beside a context instead of in it. It has no code of
// its own.
package contextmgr
