// Package thread is the domain: threads of conversation with coding agents, their turns,
// checkpoints and executions, the tree they form, and the Manager with its use cases.
//
// It imports the standard library only. What it needs from the outside (a store, agents,
// terminals, a gateway, worktrees) it declares as small interfaces; the adapters live in
// checkpoint, agent, contextmgr and mcpctl and are wired in cmd.
//
// Guarantees: no agent process starts before its execution is stored; a thread is not shown
// waiting or idle before the checkpoint of its last response is durable; a fork, rewind or
// merge never touches the thread it came from without a safety checkpoint.
package thread
