// Package thread contains the types and the ports of the domain: threads of conversation with coding agents, their
// turns, checkpoints, prompts and executions, the events about them, and the small interfaces through which the use
// cases in package manager reach a store, agents, terminals, a gateway and worktrees. The adapters are in checkpoint,
// agent, contextmgr and mcpctl and are wired in cmd.
//
// Guarantees: it keeps no state, starts nothing and never blocks; it imports only the standard library and the small
// packages below it.
package thread
