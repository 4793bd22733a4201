package agenttest

import (
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// Subject is an adapter under test.
type Subject struct {
	// New makes the adapter.
	New func(launch.Config) thread.Agent
	// Command is the program's name; empty for adapters that need none installed.
	Command string
	// OldVersion is too old, NewVersion is new enough.
	OldVersion, NewVersion string
	// Env is the person's environment beyond HOME and PATH.
	Env []string
	// Configure writes the person's own settings below the home folder.
	Configure func(t *testing.T, home string)
	// Gateway is false for adapters whose agent cannot be sent through the gateway.
	Gateway bool
	// Resumes is false for adapters that cannot resume.
	Resumes bool
	// Chooses is set if the session id is known before the start.
	Chooses bool
	// Flags are the flags that every launch of the adapter needs.
	Flags thread.Flags
	// NewSession makes a valid session id.
	NewSession func() string
	// Write makes a native session of that many turns, as the agent writes it; nil without transcripts.
	// Turn i, from 1, has the prompt "prompt-i." and the answer "answer-i.".
	Write func(t *testing.T, env []string, dir, session string, turns int) Native
	// CannotFork is set if Rebuild needs the real program.
	CannotFork bool
}

// Native is a session on disk.
type Native struct {
	// Main is the path of the session's own file; empty if it has none.
	Main string
	// Ends are the file's sizes after each turn.
	Ends []int64
}
