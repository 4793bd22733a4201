// Package agent is the port between the orchestrator and coding agents: what an adapter can say
// about its agent beyond thread.Agent. The adapters are the packages below it, one a CLI; pty runs a
// process in a terminal, vterm keeps its screen, state ranks what speaks for its state, session puts
// the three together and drives a prompt in.
//
// This package holds types and pure functions only. It starts nothing and reads nothing.
package agent
