package codex_test

import (
	"path/filepath"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestWorldFiles puts addresses into each of Codex's files and arguments.
func TestWorldFiles(t *testing.T) {
	const company, vendor = "https://models.corp.example/x", "https://api.openai.com"
	const at = "openai_base_url = \"" + company + "/v1\"\n"
	const provider = "[model_providers.corp]\nbase_url = \"" + company + "/v1\"\n"
	agenttest.Surround(t, codex.New(launch.Config{}), []agenttest.Around{
		{Name: "nothing", Want: vendor},
		{Name: "user", Files: map[string]string{"home/.codex/config.toml": "\xef\xbb\xbf# ours\n" + at}, Want: company},
		{Name: "provider", Files: map[string]string{"home/.codex/config.toml": "model_provider = \"corp\"\n" + provider}, Want: company},
		{Name: "provider by argument", Files: map[string]string{"home/.codex/config.toml": provider}, Args: []string{"-c", "model_provider=corp"}, Want: company},
		{Name: "provider without an address", Files: map[string]string{"home/.codex/config.toml": "model_provider = \"amazon-bedrock\"\n"}, Aside: "amazon-bedrock"},
		{Name: "profile", Files: map[string]string{"home/.codex/config.toml": "openai_base_url = \"http://a\"\n", "home/.codex/w.config.toml": at},
			Args: []string{"-p", "w"}, Want: company},
		{Name: "profile of old", Files: map[string]string{"home/.codex/config.toml": "profile = \"w\"\n[profiles.w]\n" + at}, Want: company},
		{Name: "argument wins", Files: map[string]string{"home/.codex/config.toml": "openai_base_url = \"http://a\"\n"},
			Args: []string{"--config=openai_base_url=" + company + "/v1"}, Want: company},
		{Name: "moved folder", Files: map[string]string{"moved/config.toml": at}, Env: []string{"CODEX_HOME=ROOT/moved"}, Want: company},
		{Name: "a repository's is not obeyed", Files: map[string]string{"work/.codex/config.toml": "openai_base_url = \"http://evil\"\n" +
			"model_provider = \"evil\"\n[model_providers.evil]\nbase_url = \"http://evil\"\n"}, Want: vendor},
		{Name: "nor a variable that it does not read", Env: []string{"OPENAI_BASE_URL=http://evil"}, Want: vendor},
		{Name: "on this machine", Args: []string{"--oss", "--local-provider", "ollama"}, Want: "http://localhost:11434"},
		{Name: "on this machine, of its file", Files: map[string]string{"home/.codex/config.toml": "oss_provider = \"lmstudio\"\n"}, Args: []string{"--oss"},
			Env: []string{"CODEX_OSS_BASE_URL=" + company + "/v1"}, Want: company},
		{Name: "on this machine, nobody says where", Args: []string{"--oss"}, Aside: "no address"},
		{Name: "a server elsewhere", Args: []string{"--remote", "ws://other:1"}, Aside: "--remote"},
		{Name: "in the keyring", Files: map[string]string{"home/.codex/config.toml": "cli_auth_credentials_store = \"keyring\"\n"}, Aside: "keyring"},
		{Name: "broken", Files: map[string]string{"home/.codex/config.toml": "openai_base_url = "}, Fails: "config.toml"},
		{Name: "broken login", Files: map[string]string{"home/.codex/auth.json": "{"}, Fails: "auth.json"},
	})
}

// TestWorldOddFiles has its configuration in what is no file.
func TestWorldOddFiles(t *testing.T) {
	home := t.TempDir()
	spec := thread.WorldSpec{Dir: t.TempDir(), Env: []string{"HOME=" + home}}
	agenttest.OddFiles(t, codex.New(launch.Config{}), spec, filepath.Join(home, ".codex", "config.toml"))
}
