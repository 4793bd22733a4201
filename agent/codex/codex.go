// Package codex is the adapter for Codex CLI.
//
// It executes the native program inside the npm package, because the package's own wrapper leaves that program running
// when it is killed. A launch adds its settings with -c overrides only; config.toml is never written. Codex accepts its
// base URL only there, and other users of the machine can read arguments, so the gateway's address in them has no
// secret: the secret is passed in the environment and sent as a header.
//
// Codex chooses its session ids; they are learned from its requests. A session that Codex itself forked refers to its
// parent's file, which is therefore read too.
package codex

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// Name is the adapter's name.
const Name = "codex"

// The base URLs that Codex uses by default.
const (
	openAI  = "https://api.openai.com/v1"
	chatGPT = "https://chatgpt.com/backend-api/codex"
	ollama  = "http://localhost:11434/v1"
	studio  = "http://localhost:1234/v1"
)

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
			Agent: Name, Command: "codex", Package: "@openai/codex", Minimum: "0.150.0",
			Folders: []string{".codex/bin"},
			Install: "npm install -g @openai/codex", Native: native,
		},
	}
}

// triple is this machine's platform as Codex names it.
func triple() string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	switch runtime.GOOS {
	case "linux":
		return arch + "-unknown-linux-musl"
	case "darwin":
		return arch + "-apple-darwin"
	default:
		return ""
	}
}

// native returns the program behind the npm package's wrapper.
func native(path string) (string, []string) {
	const wrapper = 1 << 20
	if !launch.Smaller(path, wrapper) {
		return path, nil
	}
	binary := filepath.Join("vendor", triple(), "bin", "codex")
	inner := launch.InModules(path,
		filepath.Join("@openai/codex-"+launch.NodeArch(), binary),
		filepath.Join("@openai/codex", binary))
	if inner != "" {
		return inner, nil
	}
	return path, nil
}

// Name returns "codex".
func (a *Agent) Name() string { return Name }

// Prompted implements thread.Prompted.
func (*Agent) Prompted() {}

// Detect reports whether Codex can be started here.
func (a *Agent) Detect(ctx context.Context) thread.AgentInfo { return a.program.Info(ctx, a.env) }

// ConfigFiles returns the files of a project that configure Codex.
func (a *Agent) ConfigFiles() []string {
	return []string{"AGENTS.md", "AGENTS.override.md", ".codex/", ".agents/"}
}

// LocalFiles returns those that the person may keep out of git.
func (a *Agent) LocalFiles() []string {
	return []string{"AGENTS.md", "AGENTS.override.md", ".codex/config.toml"}
}

// home is Codex's own folder.
func home(env launch.Env) string {
	if dir := env.Value("CODEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(env.Home(), ".codex")
}

// quote encodes a string as TOML, which accepts JSON strings.
func quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("codex: " + err.Error()) // strings can always be marshalled
	}
	return string(raw)
}
