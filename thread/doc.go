// Package thread has the words and the ports of the domain: threads of conversation with coding
// agents, their turns, checkpoints, prompts and executions, what is told of them, and the small
// interfaces through which the use cases in package manager reach a store, agents, terminals, a
// gateway and worktrees. The adapters live in checkpoint, agent, contextmgr and mcpctl and are
// wired in cmd.
//
// Guarantees: it holds no state, starts nothing and waits for nothing; it imports the standard
// library and the small packages below it only.
package thread
