package clis

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CLI is one real agent as a person has it set up: dummy keys, first-run dialogs answered, model requests sent to the
// scripted server.
type CLI struct {
	Name  string // the agent's
	Model string
	// Mode is the permission mode that never asks, empty if that is the default.
	Mode string
	// Asking is the permission mode of a careful person: it asks before every change.
	Asking string

	env      func(upstream string) []string
	settings func(upstream string, dirs []string) map[string]string // files below the home folder
	sessions string                                                 // folder of its native files below the home folder
	named    func(session string) string                            // part of the names of a session's files
}

// SetUp writes a person's settings into a home folder, with the given folders trusted and model
// requests going to upstream, and returns the environment that goes with them.
func (c CLI) SetUp(t *testing.T, home, upstream string, dirs ...string) []string {
	t.Helper()
	for name, text := range c.settings(upstream, dirs) {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return append([]string{
		"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8",
		// Nothing leaves this machine, whatever the program tries. That nothing of ours goes there is not the rig's business.
		"HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9",
		"HTTP_PROXY=http://127.0.0.1:9", "http_proxy=http://127.0.0.1:9",
	}, c.env(upstream)...)
}

// Files returns the native files of a session below a home folder; for OpenCode those of all sessions,
// which share a database.
func (c CLI) Files(t *testing.T, home, session string) []string {
	t.Helper()
	var all []string
	folder := filepath.Join(home, filepath.FromSlash(c.sessions))
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(d.Name(), c.named(session)) {
			all = append(all, path)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d native files of %s session %s: %v", len(all), c.Name, session, err)
	}
	return all
}

// All returns the real agents.
func All() []CLI { return []CLI{claude(), codex(), gemini(), opencode()} }

func whole(session string) string { return session }

func claude() CLI {
	return CLI{
		Name: "claude", Model: "claude-sonnet-4-6", Mode: "bypassPermissions", Asking: "default",
		sessions: ".claude/projects", named: whole,
		env: func(upstream string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + upstream, "ANTHROPIC_AUTH_TOKEN=dummy",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1"}
		},
		settings: func(_ string, dirs []string) map[string]string {
			var trusted []string
			for _, d := range dirs {
				trusted = append(trusted, fmt.Sprintf(`%q:{"hasTrustDialogAccepted":true}`, d))
			}
			return map[string]string{
				".claude.json":          `{"hasCompletedOnboarding":true,"projects":{` + strings.Join(trusted, ",") + `}}`,
				".claude/settings.json": `{"skipDangerousModePermissionPrompt":true}`,
			}
		},
	}
}

func codex() CLI {
	return CLI{
		Name: "codex", Model: "gpt-5.5", Mode: "never/danger-full-access", Asking: "on-request/workspace-write",
		sessions: ".codex/sessions", named: whole,
		env: func(string) []string { return nil },
		settings: func(upstream string, dirs []string) map[string]string {
			config := fmt.Sprintf("openai_base_url = %q\ncheck_for_update_on_startup = false\n", upstream+"/v1") +
				"[features]\nplugins = false\n[analytics]\nenabled = false\n" +
				"[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n"
			for _, d := range dirs {
				config += fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", d)
			}
			return map[string]string{".codex/config.toml": config, ".codex/auth.json": `{"OPENAI_API_KEY":"sk-dummy"}`}
		},
	}
}

func gemini() CLI {
	return CLI{
		Name: "gemini", Model: "gemini-2.5-pro", Mode: "yolo", Asking: "default", sessions: ".gemini/tmp",
		named: func(session string) string { return session[:8] },
		env: func(upstream string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + upstream, "GEMINI_API_KEY=dummy", "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		settings: func(string, []string) map[string]string {
			return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},` +
				`"privacy":{"usageStatisticsEnabled":false},` +
				`"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false,"sessionRetention":{"enabled":false}}}`}
		},
	}
}

func opencode() CLI {
	return CLI{
		Name: "opencode", Model: "fm/fake-1", sessions: ".local/share/opencode",
		named: func(string) string { return "opencode.db" },
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
				"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1"}
		},
		settings: func(upstream string, _ []string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": fmt.Sprintf(
				`{"model":"fm/fake-1","provider":{"fm":{"npm":"@ai-sdk/openai-compatible","name":"fm",`+
					`"options":{"baseURL":%q,"apiKey":"x"},`+
					`"models":{"fake-1":{"name":"Fake 1","limit":{"context":100000,"output":8000}},`+
					`"gpt-5.5":{"name":"With the prompt for GPT","limit":{"context":100000,"output":8000}}}}}}`, upstream+"/v1")}
		},
	}
}
