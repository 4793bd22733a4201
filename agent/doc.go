// Package agent is the port between the orchestrator and coding agents: the optional interfaces of an adapter in
// addition to thread.Agent. The adapters are packages below it, one for each CLI; pty runs a process in a terminal,
// vterm keeps the terminal's screen, state derives the agent's state from ranked evidence, and session connects the
// three and types prompts.
//
// This package contains only types and pure functions. It starts nothing and reads nothing.
package agent
