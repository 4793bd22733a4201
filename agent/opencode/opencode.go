// Package opencode is the adapter for opencode.
//
// A launch adds to the person's configuration with OPENCODE_CONFIG_CONTENT, which opencode merges with the other
// sources: the gateway as base URL of the providers that the person uses. None of the person's files is written, except
// that Rebuild lets opencode import a session. No hooks are set: they would need a plugin, and with any plugin opencode
// waits for packages from the network before it draws its first screen. Its state is derived from its requests and its
// screen.
//
// opencode keeps its sessions in an SQLite database. They are read from it, read-only, and exported as two files:
// "main", a line of JSON for each finished message, and "session", the data of the session itself. opencode chooses its
// session ids; they are learned from its requests, or found in the database if those go past the gateway.
package opencode

import (
	"context"
	"path/filepath"

	"orchestrator/agent/launch"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// Name is the adapter's name.
const Name = "opencode"

// Agent is the adapter. It is safe for concurrent use.
type Agent struct {
	env     launch.Env
	program *launch.Program
}

// New returns the adapter.
func New(c launch.Config) *Agent {
	return &Agent{
		env: c.Env,
		program: &launch.Program{
			Agent: Name, Command: "opencode", Package: "opencode-ai", Minimum: "1.10.0",
			Folders: []string{".opencode/bin"}, Install: "npm install -g opencode-ai", Native: native,
		},
	}
}

// native returns the program inside an npm package whose install script did not run.
func native(path string) (string, []string) {
	const stub = 64 << 10
	if !launch.Smaller(path, stub) {
		return path, nil
	}
	if inner := launch.InModules(path, "opencode-"+launch.NodeArch()+"/bin/opencode"); inner != "" {
		return inner, nil
	}
	return path, nil
}

// Name returns "opencode".
func (a *Agent) Name() string { return Name }

// Prompted implements thread.Prompted.
func (*Agent) Prompted() {}

// Detect reports whether opencode can be started here.
func (a *Agent) Detect(ctx context.Context) thread.AgentInfo { return a.program.Info(ctx, a.env) }

// provider is what opencode knows about a provider without configuration: its address, the variables with its key, and
// the one that replaces the address.
type provider struct {
	base    string
	keys    []string
	address string
}

// known are the providers that are built into opencode.
var known = map[string]provider{
	"anthropic": {"https://api.anthropic.com/v1", []string{"ANTHROPIC_API_KEY"}, "ANTHROPIC_BASE_URL"},
	"openai":    {"https://api.openai.com/v1", []string{"OPENAI_API_KEY"}, "OPENAI_BASE_URL"},
	"google": {
		"https://generativelanguage.googleapis.com/v1beta", []string{"GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"}, "",
	},
	"openrouter": {"https://openrouter.ai/api/v1", []string{"OPENROUTER_API_KEY"}, ""},
	"groq":       {"https://api.groq.com/openai/v1", []string{"GROQ_API_KEY"}, ""},
	"mistral":    {"https://api.mistral.ai/v1", []string{"MISTRAL_API_KEY"}, ""},
	"deepseek":   {"https://api.deepseek.com", []string{"DEEPSEEK_API_KEY"}, ""},
	"xai":        {"https://api.x.ai/v1", []string{"XAI_API_KEY"}, ""},
}

// xdg returns one of the person's XDG folders, from its variable or its default below the home folder.
func xdg(env launch.Env, variable, fallback string) string {
	if dir := env.Value(variable); dir != "" {
		return filepath.Join(dir, "opencode")
	}
	return filepath.Join(env.Home(), fallback, "opencode")
}

// ConfigFiles returns the files of a project that configure opencode.
func (a *Agent) ConfigFiles() []string {
	names := []string{"AGENTS.md", "CLAUDE.md", "opencode.json", "opencode.jsonc", ".claude/skills/", ".agents/skills/",
		".opencode/opencode.json", ".opencode/opencode.jsonc", ".opencode/package.json", ".opencode/tui.json"}
	for _, kind := range []string{"agent", "command", "mode", "plugin", "skill", "tool"} { // opencode accepts both forms
		names = append(names, ".opencode/"+kind+"/", ".opencode/"+kind+"s/")
	}
	return names
}

// LocalFiles returns those that the person may keep out of git.
func (a *Agent) LocalFiles() []string {
	return []string{"AGENTS.md", "opencode.json", "opencode.jsonc"}
}

// plain matches the provider names that can be part of a path.
var plain = pattern.Lazy(`^[A-Za-z0-9_-]+$`)

// versions are the suffixes of base URLs that requests repeat in their path.
var versions = []string{"/v1beta", "/v1"}
