// Package gemini is the adapter for Gemini CLI.
//
// Gemini CLI reads the gateway's address from the environment; session ids are chosen in advance. It has no settings
// for a single launch (a settings file named in the environment is refused unless root owns it), so no hooks are set:
// its state is derived from its requests, its window title and its screen.
//
// Known hazard of Gemini CLI itself: a session that is resumed in a later minute gets a second, empty file with the
// same short id, and its clean-up of old sessions, which is on by default, then deletes both. Verify therefore does not
// report a session as whole if there is such a file, and Rebuild moves the empty file to the state folder before the
// next start. The person can turn the clean-up off with general.sessionRetention.enabled=false; Detect says so.
package gemini

import (
	"context"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// Name is the adapter's name.
const Name = "gemini"

// google is Gemini CLI's default base URL with an API key.
const google = "https://generativelanguage.googleapis.com"

// Agent is the adapter. It is safe for concurrent use.
type Agent struct {
	env     launch.Env
	program *launch.Program
	reader  *transcript.Reader
}

// New returns the adapter.
func New(c launch.Config) *Agent {
	return &Agent{
		env: c.Env, reader: transcript.NewReader(),
		program: &launch.Program{
			Agent: Name, Command: "gemini", Package: "@google/gemini-cli", Minimum: "0.50.0",
			Install: "npm install -g @google/gemini-cli",
		},
	}
}

// Name returns "gemini".
func (a *Agent) Name() string { return Name }

// Prompted implements thread.Prompted.
func (*Agent) Prompted() {}

// Detect reports whether Gemini CLI can be started here.
func (a *Agent) Detect(ctx context.Context) thread.AgentInfo {
	info := a.program.Info(ctx, a.env)
	if info.Problem == "" && !leniently(a.env).keepsSessions() {
		info.Hint = "it deletes resumed sessions; to prevent that, set general.sessionRetention.enabled to false " +
			"in its settings"
	}
	return info
}
