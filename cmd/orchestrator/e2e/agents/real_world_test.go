package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// stand is a file, variable or argument in which people put the address of their model. In all texts %s is the address,
// and PROXY that of the proxy.
type stand struct {
	cli, name string
	home      map[string]string // files below the home folder, the project's root, and the system's folder
	project   map[string]string
	etc       map[string]string
	env       []string
	args      []string
	// tls is set if the model is behind the proxy, which opens TLS; a long task is worked on, of which results are masked.
	tls bool
	// aside is why it goes past the gateway, "" if it must not.
	aside string
}

func places() []stand {
	const claudeAt = `{"env":{"ANTHROPIC_BASE_URL":"%s"}}`
	const geminiAt = "GOOGLE_GEMINI_BASE_URL=%s\n"
	const codexAt = "openai_base_url = \"%s/v1\"\n"
	const ofCompany = "model_provider = \"corp\"\n[model_providers.corp]\nname = \"Corp\"\nbase_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"CORP_KEY\"\n"
	open := func(base string) string {
		return `{"model":"fm/fake-1", // ours
			"provider":{"fm":{"npm":"@ai-sdk/openai-compatible","name":"fm","options":{"baseURL":"` + base + `","apiKey":"dummy"},
			"models":{"fake-1":{"name":"Fake 1","limit":{"context":100000,"output":8000}}}}},}`
	}
	openAt := open("%s/v1")
	return []stand{
		{cli: "claude", name: "user", home: map[string]string{".claude/settings.json": `{"skipDangerousModePermissionPrompt":true,"apiKeyHelper":"echo dummy-helper","env":{"ANTHROPIC_BASE_URL":"%s"}}`}},
		{cli: "claude", name: "project", project: map[string]string{".claude/settings.json": claudeAt}},
		{cli: "claude", name: "local", project: map[string]string{".claude/settings.local.json": claudeAt}},
		{cli: "claude", name: "argument", args: []string{"--settings", claudeAt}},
		{cli: "claude", name: "environment", env: []string{"ANTHROPIC_BASE_URL=%s"}},
		{cli: "claude", name: "Foundry", env: []string{"CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_BASE_URL=%s", "ANTHROPIC_FOUNDRY_API_KEY=dummy"}},
		{cli: "claude", name: "folder", env: []string{"CLAUDE_CONFIG_DIR=HOME/moved"}, home: map[string]string{
			"moved/.claude.json":  `{"hasCompletedOnboarding":true,"projects":{"PROJECT":{"hasTrustDialogAccepted":true}}}`,
			"moved/settings.json": `{"skipDangerousModePermissionPrompt":true,"env":{"ANTHROPIC_BASE_URL":"%s"}}`}},
		{cli: "claude", name: "proxy in settings", home: map[string]string{".claude/settings.json": `{"skipDangerousModePermissionPrompt":true,` +
			`"env":{"ANTHROPIC_BASE_URL":"%s","HTTP_PROXY":"PROXY","HTTPS_PROXY":"PROXY","NO_PROXY":"corp"}}`}},
		{cli: "claude", name: "managed", etc: map[string]string{"claude-code/managed-settings.json": claudeAt}, aside: "managed-settings.json"},
		{cli: "claude", name: "opened and managed", etc: map[string]string{"claude-code/managed-settings.d/10-model.json": claudeAt}, tls: true, aside: "10-model.json"},
		{cli: "claude", name: "opened", project: map[string]string{".claude/settings.local.json": claudeAt}, tls: true},

		{cli: "codex", name: "user", home: map[string]string{".codex/config.toml": codexAt}},
		{cli: "codex", name: "provider", home: map[string]string{".codex/config.toml": ofCompany}, env: []string{"CORP_KEY=dummy"}},
		{cli: "codex", name: "argument", args: []string{"-c", `openai_base_url="%s/v1"`}},
		{cli: "codex", name: "profile", home: map[string]string{".codex/work.config.toml": codexAt}, args: []string{"--profile", "work"}},
		{cli: "codex", name: "folder", env: []string{"CODEX_HOME=HOME/moved"}, home: map[string]string{
			"moved/auth.json": `{"OPENAI_API_KEY":"sk-dummy"}`, "moved/config.toml": codexAt}},
		{cli: "codex", name: "of the system", etc: map[string]string{"codex/config.toml": codexAt}},
		{cli: "codex", name: "not the project's", home: map[string]string{".codex/config.toml": codexAt},
			project: map[string]string{".codex/config.toml": "openai_base_url = \"http://wrong.invalid/v1\"\n"}},
		{cli: "codex", name: "managed", etc: map[string]string{"codex/managed_config.toml": codexAt}, aside: "managed_config.toml"},
		{cli: "codex", name: "opened", home: map[string]string{".codex/config.toml": ofCompany}, env: []string{"CORP_KEY=dummy"}, tls: true},

		{cli: "gemini", name: "project", project: map[string]string{".env": "export GOOGLE_GEMINI_BASE_URL='%s' # ours\nNO_PROXY=corp\n"}},
		{cli: "gemini", name: "folder", project: map[string]string{".gemini/.env": geminiAt + "HTTPS_PROXY=PROXY\n", ".env": "GOOGLE_GEMINI_BASE_URL=http://wrong.invalid"}},
		{cli: "gemini", name: "home", home: map[string]string{".gemini/.env": geminiAt}},
		{cli: "gemini", name: "home itself", home: map[string]string{".env": geminiAt}},
		{cli: "gemini", name: "environment", env: []string{"GOOGLE_GEMINI_BASE_URL=%s"}, project: map[string]string{".env": "GOOGLE_GEMINI_BASE_URL=http://wrong.invalid"}},
		{cli: "gemini", name: "another home", env: []string{"GEMINI_CLI_HOME=HOME/moved"}, home: map[string]string{"moved/.gemini/.env": geminiAt,
			"moved/.gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`}},
		{cli: "gemini", name: "managed", project: map[string]string{".env": geminiAt},
			etc: map[string]string{"gemini-cli/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"advanced":{"excludedEnvVars":["DEBUG"]}}`}},
		{cli: "gemini", name: "opened", project: map[string]string{".gemini/.env": geminiAt}, tls: true},

		{cli: "opencode", name: "project", project: map[string]string{"opencode.jsonc": openAt}},
		{cli: "opencode", name: "folder", project: map[string]string{".opencode/opencode.json": openAt}},
		{cli: "opencode", name: "user", home: map[string]string{".config/opencode/opencode.json": openAt}},
		{cli: "opencode", name: "file", home: map[string]string{"mine.json": openAt}, env: []string{"OPENCODE_CONFIG=HOME/mine.json"}},
		{cli: "opencode", name: "content", env: []string{"OPENCODE_CONFIG_CONTENT=" + openAt}},
		{cli: "opencode", name: "another folder", home: map[string]string{"more/opencode.json": openAt}, env: []string{"OPENCODE_CONFIG_DIR=HOME/more"}},
		{cli: "opencode", name: "XDG", home: map[string]string{"x/opencode/opencode.jsonc": openAt}, env: []string{"XDG_CONFIG_HOME=HOME/x"}},
		{cli: "opencode", name: "variable", project: map[string]string{"opencode.json": open("{env:CORP_URL}/v1")}, env: []string{"CORP_URL=%s"}},
		{cli: "opencode", name: "named file", project: map[string]string{"opencode.json": open("{file:./address}"), "address": "%s/v1\n"}},
		{cli: "opencode", name: "managed", etc: map[string]string{"opencode/opencode.json": openAt}, aside: "opencode.json"},
		{cli: "opencode", name: "opened", home: map[string]string{".config/opencode/opencode.json": openAt}, tls: true},
	}
}

// TestRealWorld has the address of a company's model in each place, behind a proxy that must hear nothing that is not for
// that model.
func TestRealWorld(t *testing.T) {
	for _, p := range places() {
		t.Run(p.cli+" "+p.name, func(t *testing.T) {
			all := clis.All()
			r := newScripted(t, all[slices.IndexFunc(all, func(c clis.CLI) bool { return c.Name == p.cli })], longTask)
			d := newDecoy(t, r.model)
			r.settle(p, d)
			args := []string{"new", "-a", p.cli, "-m", r.cli.Model}
			if r.cli.Mode != "" {
				args = append(args, "--permission-mode", r.cli.Mode)
			}
			if args = append(args, "company"); len(p.args) > 0 {
				args = append(append(args, "--"), r.filled(p, d, p.args)...)
			}
			plain := r.Program
			if len(p.etc) > 0 { // the server and its agents see other files of the system
				r.Program = r.elsewhere(r.fill(p, d, p.etc))
			}
			name := r.Ok(args...)
			r.Program = plain
			if got := r.Ok("send", name, "private-prompt #usage:1001,20,0,7 #say:the answer"); got != "the answer" {
				t.Errorf("the answer is %q", got)
			}
			q := r.request("private-prompt")
			if !strings.HasPrefix(q.Path, "/company/") {
				t.Errorf("the model was asked at %s", q.Path)
			}
			s := r.Status(name)
			if s.Turn != 1 || (s.Aside == "") != (p.aside == "") || !strings.Contains(s.Aside, p.aside) || s.Gauge.Tokens != 1001+20+7 {
				t.Errorf("turn %d, aside %q, gauge %+v", s.Turn, s.Aside, s.Gauge)
			}
			if usd, known := s.Cost(); p.cli != "opencode" && (!known || usd == 0) {
				t.Errorf("it cost %v (%v)", usd, known)
			}
			if list := e2e.Get[[]thread.Checkpoint](r.Rig, "checkpoint", "list", name); len(list) == 0 {
				t.Error("the turn is not recorded")
			}
			if why := r.Ok("why", name); strings.Contains(why, "not through the gateway") != (p.aside != "") || !strings.Contains(why, p.aside) {
				t.Errorf("why: %s", why)
			}
			if p.tls && p.aside == "" {
				r.Ok("send", "--timeout", "5m", name, "the long task")
				if s := r.Status(name); s.Gauge.Masked == 0 || s.Turn != 2 {
					t.Errorf("turn %d, gauge %+v", s.Turn, s.Gauge)
				}
			}
			d.check(t, "private-prompt", "dummy", "Bearer")
		})
	}
}

// longTask answers by the markers of prompts, and one prompt with commands whose results are long.
func longTask(turn model.Turn) scripted.Reply {
	switch {
	case turn.Side || !strings.Contains(turn.Prompt, "the long task"):
		return atWork(turn)
	case turn.Round < maskRounds:
		return scripted.Reply{Calls: []scripted.Call{turn.Shell(fmt.Sprintf("seq %d00001 %d%05d", turn.Round+1, turn.Round+1, maskLines), false)}}
	}
	return scripted.Reply{Text: "the long task is done"}
}

// settle sets the place up, and takes the rig's own addresses away.
func (r *realRig) settle(p stand, d *decoy) {
	t := r.T
	t.Helper()
	r.Env = slices.DeleteFunc(r.Env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasSuffix(name, "_BASE_URL") || strings.HasSuffix(strings.ToLower(name), "_proxy")
	})
	r.Env = append(append(r.Env, d.env()...), "ORCHESTRATOR_MASKING=lean", "ORCHESTRATOR_MASKING_TOKENS=10000")
	if p.tls || p.cli == "opencode" { // which waits for minutes for a registry of packages that it cannot reach
		r.Env = append(r.Env, d.trusting()...)
	}
	r.Env = append(r.Env, r.filled(p, d, p.env)...)
	config := filepath.Join(r.Home, ".codex", "config.toml")
	rest := ""
	if raw, err := os.ReadFile(config); err == nil {
		rest = strings.Join(slices.DeleteFunc(strings.Split(string(raw), "\n"), func(l string) bool { return strings.HasPrefix(l, "openai_base_url") }), "\n")
		r.put(config, rest)
	}
	if p.cli == "opencode" {
		if err := os.Remove(filepath.Join(r.Home, ".config", "opencode", "opencode.json")); err != nil {
			t.Fatal(err)
		}
	}
	for root, files := range map[string]map[string]string{r.Home: p.home, r.Project: p.project} {
		for name, text := range r.fill(p, d, files) {
			if filepath.Base(name) == "config.toml" && root == r.Home { // with what answers the first questions
				top, tables, _ := strings.Cut(text, "[")
				if tables != "" {
					tables = "[" + tables
				}
				text = top + rest + "\n" + tables
			}
			r.put(filepath.Join(root, name), text)
		}
	}
}

func (r *realRig) put(path, text string) {
	r.T.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// filled fills in addresses and folders.
func (r *realRig) filled(p stand, d *decoy, texts []string) []string {
	company := r.model.URL() + "/company"
	if p.tls {
		company = "https://" + companyHost + "/company"
	}
	var all []string
	for _, text := range texts {
		for _, one := range [][2]string{{"%s", company}, {"PROXY\"", d.URL + `"`}, {"=PROXY", "=" + d.URL}, {"HOME/", r.Home + "/"}, {"PROJECT", r.Project}} {
			text = strings.ReplaceAll(text, one[0], one[1])
		}
		all = append(all, text)
	}
	return all
}

func (r *realRig) fill(p stand, d *decoy, files map[string]string) map[string]string {
	all := map[string]string{}
	for name, text := range files {
		all[name] = r.filled(p, d, []string{text})[0]
	}
	return all
}

// elsewhere returns a program that is the rig's, and sees more files below /etc than there are; nobody else sees them.
func (r *realRig) elsewhere(files map[string]string) string {
	r.T.Helper()
	base := filepath.Join(filepath.Dir(r.Home), "etc")
	upper, work := filepath.Join(base, "upper"), filepath.Join(base, "work")
	for _, dir := range []string{upper, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			r.T.Fatal(err)
		}
	}
	for name, text := range files {
		r.put(filepath.Join(upper, name), text)
		if err := os.Chmod(filepath.Join(upper, name), 0o644); err != nil {
			r.T.Fatal(err)
		}
	}
	mount := fmt.Sprintf("mount -t overlay overlay -o lowerdir=/etc,upperdir=%s,workdir=%s /etc", upper, work)
	if out, err := exec.Command("unshare", "-m", "sh", "-c", mount).CombinedOutput(); err != nil {
		r.T.Skipf("SKIPPED, not run: files of an organisation need a mount namespace, that is, root on Linux: %v %s", err, out)
	}
	script := filepath.Join(base, "orchestrator")
	text := fmt.Sprintf("#!/bin/sh\nexec unshare -m sh -c '%s && exec \"$@\"' sh %s \"$@\"\n", mount, r.Program)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		r.T.Fatal(err)
	}
	return script
}
