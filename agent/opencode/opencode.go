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
// session ids; they are learned from its requests.
package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

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

// provider is what opencode knows about a provider without configuration: its address, and the variables with its key.
type provider struct {
	base string
	keys []string
}

// known are the providers that are built into opencode.
var known = map[string]provider{
	"anthropic": {"https://api.anthropic.com/v1", []string{"ANTHROPIC_API_KEY"}},
	"openai":    {"https://api.openai.com/v1", []string{"OPENAI_API_KEY"}},
	"google": {
		"https://generativelanguage.googleapis.com/v1beta", []string{"GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"},
	},
	"openrouter": {"https://openrouter.ai/api/v1", []string{"OPENROUTER_API_KEY"}},
	"groq":       {"https://api.groq.com/openai/v1", []string{"GROQ_API_KEY"}},
	"mistral":    {"https://api.mistral.ai/v1", []string{"MISTRAL_API_KEY"}},
	"deepseek":   {"https://api.deepseek.com", []string{"DEEPSEEK_API_KEY"}},
	"xai":        {"https://api.x.ai/v1", []string{"XAI_API_KEY"}},
}

// config are the fields of the person's configuration that are read.
type config struct {
	Model    string                    `json:"model"`
	Provider map[string]configProvider `json:"provider"`
}

type configProvider struct {
	NPM     string `json:"npm"`
	Options struct {
		BaseURL string `json:"baseURL"`
	} `json:"options"`
	Models map[string]configModel `json:"models"`
}

type configModel struct {
	ID    string `json:"id"` // the name in requests; the key if empty
	Limit struct {
		Context int64 `json:"context"`
	} `json:"limit"`
}

// xdg returns one of the person's XDG folders, from its variable or its default below the home folder.
func xdg(env launch.Env, variable, fallback string) string {
	if dir := env.Value(variable); dir != "" {
		return filepath.Join(dir, "opencode")
	}
	return filepath.Join(env.Home(), fallback, "opencode")
}

// userFiles returns the person's own configuration files; later ones take precedence.
func userFiles(env launch.Env) []string {
	var paths []string
	for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
		paths = append(paths, filepath.Join(xdg(env, "XDG_CONFIG_HOME", ".config"), name))
	}
	if path := env.Value("OPENCODE_CONFIG"); path != "" {
		paths = append(paths, path)
	}
	return paths
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

// readConfig reads the person's own files and variables; later ones take precedence. A repository's own configuration
// is not read: it must not decide where credentials are sent.
func readConfig(env launch.Env) config {
	var all config
	var raws [][]byte
	for _, path := range userFiles(env) {
		if raw, err := os.ReadFile(path); err == nil {
			raws = append(raws, launch.StripComments(raw))
		}
	}
	raws = append(raws, launch.StripComments([]byte(env.Value("OPENCODE_CONFIG_CONTENT"))))
	for _, raw := range raws {
		var c config
		if json.Unmarshal(raw, &c) != nil {
			continue // opencode itself reports a broken file
		}
		if c.Model != "" {
			all.Model = c.Model
		}
		for id, p := range c.Provider {
			if all.Provider == nil {
				all.Provider = map[string]configProvider{}
			}
			old := all.Provider[id]
			if p.NPM != "" {
				old.NPM = p.NPM
			}
			if p.Options.BaseURL != "" {
				old.Options.BaseURL = p.Options.BaseURL
			}
			for key, m := range p.Models {
				if old.Models == nil {
					old.Models = map[string]configModel{}
				}
				was := old.Models[key]
				was.ID, was.Limit.Context = cmp.Or(m.ID, was.ID), cmp.Or(m.Limit.Context, was.Limit.Context)
				old.Models[key] = was
			}
			all.Provider[id] = old
		}
	}
	return all
}

// Windows returns the limit.context of the configured models.
func (a *Agent) Windows(env []string) map[string]int64 {
	var all map[string]int64
	for _, p := range readConfig(env).Provider {
		for key, m := range p.Models {
			if m.Limit.Context <= 0 {
				continue
			}
			if all == nil {
				all = map[string]int64{}
			}
			all[cmp.Or(m.ID, key)] = m.Limit.Context
		}
	}
	return all
}

// logins returns the providers that the person is logged in to, with the type of login. The credentials in the same
// file are ignored.
func logins(env launch.Env) map[string]string {
	var auth map[string]struct {
		Type string `json:"type"`
	}
	if launch.ReadJSON(filepath.Join(xdg(env, "XDG_DATA_HOME", ".local/share"), "auth.json"), &auth) != nil {
		return nil
	}
	all := map[string]string{}
	for id, a := range auth {
		all[id] = a.Type
	}
	return all
}

// plain matches the provider names that can be part of a path.
var plain = pattern.Lazy(`^[A-Za-z0-9_-]+$`)

// bases returns the base URLs of the providers that the person uses and that can go through a gateway, by provider.
// Logins by OAuth are left out: their plugins choose the address themselves.
func bases(env launch.Env, c config) map[string]string {
	all := map[string]string{}
	login := logins(env)
	for id, p := range known {
		_, configured := c.Provider[id]
		keyed := slices.ContainsFunc(p.keys, func(k string) bool { return env.Value(k) != "" })
		if configured || keyed || login[id] == "api" {
			all[id] = p.base
		}
	}
	for id, p := range c.Provider {
		if p.Options.BaseURL != "" && !strings.Contains(p.Options.BaseURL, "{") { // not one with placeholders
			all[id] = p.Options.BaseURL
		}
	}
	for id := range all {
		if login[id] == "oauth" || !plain().MatchString(id) {
			delete(all, id)
		}
	}
	return all
}

// versions are the suffixes of base URLs that requests repeat in their path.
var versions = []string{"/v1beta", "/v1"}

// Upstreams returns the addresses of the person's providers, by provider, and as "" that of the default model; nil if
// there is none.
func (a *Agent) Upstreams(env []string) map[string]string {
	c := readConfig(env)
	all := map[string]string{}
	var names []string
	for id, base := range bases(env, c) {
		all[id], _ = launch.SplitVersion(base, versions...)
		names = append(names, id)
	}
	if len(names) == 0 {
		return nil
	}
	sort.Strings(names)
	main, _, _ := strings.Cut(c.Model, "/")
	if _, ok := all[main]; !ok {
		main = names[0]
	}
	all[""] = all[main]
	return all
}
