// Package claude is the adapter for Claude Code.
//
// It starts Claude Code as the person has configured it: with their login, settings and permission rules. A launch adds
// one settings file of ours, passed with --settings; the person's own files are never written, except that Rebuild
// writes session files in Claude Code's own folder. Session ids are chosen in advance.
//
// Behind the gateway, Claude Code is told that it talks to Anthropic if it does
// (_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL), because it disables tool search and the 1M window for other base URLs.
// Its Remote Control does not work with any custom base URL.
package claude

import (
	"context"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// Name is the adapter's name.
const Name = "claude"

// firstParty is Claude Code's default base URL.
const firstParty = "https://api.anthropic.com"

// Agent is the adapter. It is safe for concurrent use.
type Agent struct {
	env     launch.Env
	hook    []string
	program *launch.Program
	reader  *transcript.Reader
}

// New returns the adapter.
func New(c launch.Config) *Agent {
	return &Agent{
		env: c.Env, hook: c.Hook, reader: transcript.NewReader(),
		program: &launch.Program{
			Agent: Name, Command: "claude", Package: "@anthropic-ai/claude-code", Minimum: "2.1.0",
			Folders: []string{".claude/local", ".claude/local/node_modules/.bin"},
			Install: "npm install -g @anthropic-ai/claude-code",
			Native:  native,
		},
	}
}

// native returns the program inside an npm package whose install script did not run: in that case the command is a stub
// that only prints an error.
func native(path string) (string, []string) {
	const stub = 64 << 10
	if !launch.Smaller(path, stub) {
		return path, nil
	}
	if inner := launch.InModules(path, "@anthropic-ai/claude-code-"+launch.NodeArch()+"/claude"); inner != "" {
		return inner, nil
	}
	return path, nil // a script made by the installer
}

// Name returns "claude".
func (a *Agent) Name() string { return Name }

// Prompted implements thread.Prompted.
func (*Agent) Prompted() {}

// Detect reports whether Claude Code can be started here.
func (a *Agent) Detect(ctx context.Context) thread.AgentInfo { return a.program.Info(ctx, a.env) }

// ConfigFiles returns the files of a project that configure Claude Code.
func (a *Agent) ConfigFiles() []string {
	return []string{
		"CLAUDE.md", "CLAUDE.local.md", ".mcp.json", ".claude/CLAUDE.md", ".claude/settings.json",
		".claude/settings.local.json", ".claude/agents/", ".claude/commands/", ".claude/hooks/",
		".claude/output-styles/", ".claude/rules/", ".claude/skills/",
	}
}

// LocalFiles returns those that the person may keep out of git. Claude Code finds the main worktree's
// settings.local.json by itself (2.1.330).
func (a *Agent) LocalFiles() []string { return []string{"CLAUDE.md", "CLAUDE.local.md"} }
