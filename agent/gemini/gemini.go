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
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"

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
	if info.Problem == "" && !readSettings(a.env).keepsSessions() {
		info.Hint = "it deletes resumed sessions; to prevent that, set general.sessionRetention.enabled to false " +
			"in its settings"
	}
	return info
}

// settings are the fields of the person's settings.json that are read.
type settings struct {
	General struct {
		Retention struct {
			Enabled *bool `json:"enabled"`
		} `json:"sessionRetention"`
	} `json:"general"`
	Policies []string `json:"policyPaths"`
	Security struct {
		Auth struct {
			Selected string `json:"selectedType"`
		} `json:"auth"`
		Trust struct {
			Enabled *bool `json:"enabled"`
		} `json:"folderTrust"`
	} `json:"security"`
}

func (s settings) keepsSessions() bool {
	return s.General.Retention.Enabled != nil && !*s.General.Retention.Enabled
}

// home is Gemini CLI's own folder.
func home(env launch.Env) string {
	root := env.Value("GEMINI_CLI_HOME")
	if root == "" {
		root = env.Home()
	}
	return filepath.Join(root, ".gemini")
}

func readSettings(env launch.Env) settings {
	var s settings
	if launch.ReadJSONC(filepath.Join(home(env), "settings.json"), &s) != nil {
		return settings{} // Gemini CLI itself reports a broken file
	}
	return s
}

// effective returns the environment with the variables that the person's .env file adds.
func effective(env launch.Env) launch.Env {
	for _, path := range []string{filepath.Join(home(env), ".env"), filepath.Join(env.Home(), ".env")} {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export "), "=")
			key = strings.TrimSpace(key)
			if ok && (key == "GOOGLE_GEMINI_BASE_URL" || strings.HasPrefix(key, "GOOGLE_GENAI_USE_")) {
				env = env.Default(key, strings.Trim(strings.TrimSpace(value), `"'`))
			}
		}
		break // only the first file is read
	}
	return env
}

// Upstreams returns the address of the Gemini API; nil for logins that use another API: a Google account's (Code
// Assist) and Vertex AI.
func (a *Agent) Upstreams(env []string) map[string]string {
	e := effective(env)
	switch readSettings(e).Security.Auth.Selected {
	case "gemini-api-key", "gateway":
	case "":
		if e.Enabled("GOOGLE_GENAI_USE_VERTEXAI") || e.Enabled("GOOGLE_GENAI_USE_GCA") {
			return nil
		}
	default:
		return nil
	}
	if base := strings.TrimRight(e.Value("GOOGLE_GEMINI_BASE_URL"), "/"); base != "" {
		return map[string]string{"": base}
	}
	return map[string]string{"": google}
}
