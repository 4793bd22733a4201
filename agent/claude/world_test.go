package claude_test

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// at is a settings file with an address.
func at(address string) string { return `{"env":{"ANTHROPIC_BASE_URL":"` + address + `"}}` }

// TestWorldFiles puts addresses into each of Claude Code's files.
func TestWorldFiles(t *testing.T) {
	const company = "https://models.corp.example/x"
	trust := func(dir string) string { return `{"projects":{"` + dir + `":{"hasTrustDialogAccepted":true}}}` }
	for _, tt := range []struct {
		name   string
		files  map[string]string // below the root; the folder is work, the home is home
		args   []string
		env    []string
		dir    string
		want   string
		aside  string
		refuse string
	}{
		{name: "state", files: map[string]string{"home/.claude.json": at(company)}, env: []string{"ANTHROPIC_BASE_URL=http://env"}, want: company},
		{name: "project", files: map[string]string{"work/.claude/settings.json": at(company)}, want: company},
		{name: "local wins", files: map[string]string{"work/.claude/settings.json": at("http://a"), "home/.claude/settings.json": at("http://b"),
			"work/.claude/settings.local.json": "\xef\xbb\xbf" + at(company)}, want: company},
		{name: "argument wins", files: map[string]string{"work/.claude/settings.local.json": at("http://a")},
			args: []string{"--settings", at(company)}, want: company},
		{name: "argument names a file", files: map[string]string{"work/s.json": at(company)}, args: []string{"--settings=s.json"}, want: company},
		{name: "only the person's", files: map[string]string{"work/.claude/settings.local.json": at("http://a"), "home/.claude/settings.json": at(company)},
			args: []string{"--setting-sources", "user"}, want: company},
		{name: "subfolder", files: map[string]string{"work/.claude/settings.local.json": at(company), "work/.claude/settings.json": at("http://a"),
			"work/sub/x": ""}, dir: "work/sub", want: company},
		{name: "worktree", files: map[string]string{"work/.claude/settings.local.json": at(company), "tree/.git": "gitdir: ../work/.git/worktrees/tree",
			"work/.git/worktrees/tree/commondir": "../.."}, dir: "tree", want: company},
		{name: "emptied", files: map[string]string{"work/.claude/settings.local.json": at(""), "home/.claude/settings.json": at("http://a")},
			want: "https://api.anthropic.com"},
		{name: "not trusted", files: map[string]string{"other/.claude/settings.json": at("http://evil"), "other/.git/x": ""}, dir: "other",
			aside: "trust"},
		{name: "not trusted, the same", files: map[string]string{"other/.claude/settings.json": at(company), "home/.claude/settings.json": at(company)},
			dir: "other", want: company},
		{name: "not trusted, a proxy", files: map[string]string{"other/.claude/settings.json": `{"env":{"HTTPS_PROXY":"http://evil"}}`}, dir: "other",
			aside: "trust"},
		{name: "cloud by project", files: map[string]string{"work/.claude/settings.json": `{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}`}, aside: "BEDROCK"},
		{name: "Foundry", env: []string{"CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_BASE_URL=" + company + "/", "ANTHROPIC_BASE_URL=http://wrong"}, want: company},
		{name: "Foundry by its resource", env: []string{"CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_RESOURCE=r"}, aside: "without ANTHROPIC_FOUNDRY_BASE_URL"},
		{name: "Foundry, switched off", env: []string{"CLAUDE_CODE_USE_FOUNDRY=0", "ANTHROPIC_FOUNDRY_BASE_URL=http://wrong", "ANTHROPIC_BASE_URL=" + company}, want: company},
		{name: "Foundry and another cloud", env: []string{"CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_BASE_URL=" + company, "CLAUDE_CODE_USE_BEDROCK=1"}, aside: "BEDROCK"},
		{name: "Foundry of the organisation", env: []string{"CLAUDE_CODE_USE_FOUNDRY=1"},
			files: map[string]string{"home/.claude/remote-settings.json": `{"env":{"ANTHROPIC_FOUNDRY_BASE_URL":"` + company + `"}}`}, aside: "remote-settings.json"},
		{name: "Foundry, and an address of the organisation that is not used", env: []string{"CLAUDE_CODE_USE_FOUNDRY=1", "ANTHROPIC_FOUNDRY_BASE_URL=" + company},
			files: map[string]string{"home/.claude/remote-settings.json": at("http://wrong")}, want: company},
		{name: "Foundry by a folder that is not trusted", files: map[string]string{"other/.claude/settings.json": `{"env":{"CLAUDE_CODE_USE_FOUNDRY":"1","ANTHROPIC_FOUNDRY_BASE_URL":"http://evil"}}`},
			dir: "other", aside: "trust"},
		{name: "fetched by the organisation", files: map[string]string{"home/.claude/remote-settings.json": at(company)}, aside: "remote-settings.json"},
		{name: "cloud of Google", env: []string{"CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD=1"}, aside: "GOOGLE_CLOUD"},
		{name: "socket", files: map[string]string{"home/.claude/settings.json": `{"env":{"ANTHROPIC_UNIX_SOCKET":"/s"}}`}, aside: "UNIX_SOCKET"},
		{name: "another host of the API", env: []string{"CLAUDE_CODE_API_BASE_URL=" + company}, aside: "API_BASE_URL"},
		{name: "another host of the login", env: []string{"CLAUDE_CODE_CUSTOM_OAUTH_URL=" + company}, aside: "OAUTH_URL"},
		{name: "another host, and an address", env: []string{"CLAUDE_CODE_API_BASE_URL=http://a", "ANTHROPIC_BASE_URL=" + company}, want: company},
		{name: "profile", files: map[string]string{"home/.config/anthropic/configs/default.json": `{"base_url":"` + company + `"}`}, aside: "default.json"},
		{name: "active profile", files: map[string]string{"home/.config/anthropic/configs/work.json": `{"base_url":"` + company + `"}`,
			"home/.config/anthropic/active_config": "work\n"}, aside: "work.json"},
		{name: "named profile", files: map[string]string{"home/.config/anthropic/configs/x.json": `{"base_url":"` + company + `"}`},
			env: []string{"ANTHROPIC_PROFILE=x"}, aside: "x.json"},
		{name: "profile without an address", files: map[string]string{"home/.config/anthropic/configs/default.json": `{"organization_id":"o"}`},
			want: "https://api.anthropic.com"},
		{name: "profile, and an address", files: map[string]string{"home/.config/anthropic/configs/default.json": `{"base_url":"http://a"}`},
			env: []string{"ANTHROPIC_BASE_URL=" + company}, want: company},
		{name: "broken profile", files: map[string]string{"home/.config/anthropic/configs/default.json": `{`}, aside: "default.json"},
		{name: "gateway to sign in to", files: map[string]string{"home/.claude/settings.json": `{"forceLoginGatewayUrl":"` + company + `"}`}, aside: "gateway"},
		{name: "elsewhere managed", files: map[string]string{"m/managed-settings.json": at(company)}, env: []string{"CLAUDE_CODE_MANAGED_SETTINGS_PATH=ROOT/m"}, aside: "managed-settings.json"},
		{name: "elsewhere fetched", files: map[string]string{"r.json": at(company)}, env: []string{"CLAUDE_CODE_REMOTE_SETTINGS_PATH=ROOT/r.json"}, aside: "r.json"},
		{name: "moved folder", files: map[string]string{"moved/settings.json": at(company)}, env: []string{"CLAUDE_CONFIG_DIR=ROOT/moved"}, want: company},
		{name: "broken project", files: map[string]string{"work/.claude/settings.json": `{"env":`}, refuse: "settings.json"},
		{name: "comments", files: map[string]string{"work/.claude/settings.local.json": "// mine\n" + at(company)}, refuse: "settings.local.json"},
		{name: "folder", files: map[string]string{"work/.claude/settings.json/x": ""}, refuse: "settings.json"},
		{name: "broken state", files: map[string]string{"home/.claude.json": "["}, refuse: ".claude.json"},
		{name: "argument is missing", args: []string{"--settings", "gone.json"}, refuse: "gone.json"},
		{name: "empty file", files: map[string]string{"work/.claude/settings.json": " \n"}, want: "https://api.anthropic.com"},
		{name: "variable of the thread", env: nil, args: nil, want: "http://flag", dir: "flagged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			home, dir := filepath.Join(root, "home"), filepath.Join(root, "work")
			agenttest.Put(t, filepath.Join(dir, ".git", "HEAD"), "")
			if tt.files["home/.claude.json"] == "" {
				agenttest.Put(t, filepath.Join(home, ".claude.json"), trust(dir))
			}
			for name, text := range tt.files {
				agenttest.Put(t, filepath.Join(root, name), text)
			}
			for i := range tt.env {
				tt.env[i] = strings.ReplaceAll(tt.env[i], "ROOT", root)
			}
			spec := thread.WorldSpec{Dir: dir, Env: append(tt.env, "HOME="+home), Flags: thread.Flags{Args: tt.args}}
			if tt.dir != "" {
				spec.Dir = filepath.Join(root, tt.dir)
			}
			if tt.dir == "flagged" {
				spec.Flags.Env = []string{"ANTHROPIC_BASE_URL=http://flag"}
			}
			w, err := claude.New(launch.Config{}).World(spec)
			switch {
			case tt.refuse != "":
				if err == nil || !strings.Contains(err.Error(), tt.refuse) {
					t.Errorf("%v %+v", err, w)
				}
			case err != nil:
				t.Error(err)
			case tt.aside != "":
				if w.Upstreams != nil || !strings.Contains(w.Aside, tt.aside) {
					t.Errorf("%+v", w)
				}
			case w.Upstreams[""] != tt.want:
				t.Errorf("%+v, want %s", w, tt.want)
			}
		})
	}
}

// TestWorldOnce: a run reads the settings of the person's only, so that those of a repository do not say where its model is.
func TestWorldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		project string
		want    string
	}{
		"of the repository":    {project: `{"env":{"ANTHROPIC_BASE_URL":"http://repository"}}`, want: "http://mine"},
		"broken":               {project: `{`, want: "http://mine"},
		"without the person's": {args: []string{"--setting-sources", "project"}, project: `{}`, want: "https://api.anthropic.com"},
	} {
		home, dir := t.TempDir(), t.TempDir()
		agenttest.Put(t, filepath.Join(home, ".claude", "settings.json"), `{"env":{"ANTHROPIC_BASE_URL":"http://mine"}}`)
		agenttest.Put(t, filepath.Join(dir, ".claude", "settings.json"), c.project)
		w, err := claude.New(launch.Config{}).World(thread.WorldSpec{
			Dir: dir, Env: []string{"HOME=" + home}, Flags: thread.Flags{Args: c.args}, Once: true,
		})
		if err != nil || w.Upstreams[""] != c.want || w.Aside != "" {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
	}
}

// TestWorldOddFiles has settings in what is no file: nothing goes to the vendor instead.
func TestWorldOddFiles(t *testing.T) {
	dir := t.TempDir()
	spec := thread.WorldSpec{Dir: dir, Env: []string{"HOME=" + t.TempDir()}}
	agenttest.OddFiles(t, claude.New(launch.Config{}), spec, filepath.Join(dir, ".claude", "settings.json"))
}

// TestWorldNetwork reads the proxy and the certificates that settings name, and keeps the gateway from the proxy.
func TestWorldNetwork(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	agenttest.Put(t, filepath.Join(home, ".claude", "settings.json"),
		`{"env":{"HTTPS_PROXY":"http://proxy.corp:3128","NO_PROXY":".corp","NODE_EXTRA_CA_CERTS":"/ca.pem"}}`)
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin"), "HTTPS_PROXY=http://other"}
	w := agenttest.World(t, claude.New(launch.Config{}), env)
	if w.Network.HTTPS != "http://proxy.corp:3128" || w.Network.HTTP != "http://proxy.corp:3128" || w.Network.NoProxy != ".corp" ||
		len(w.Network.Roots) != 1 {
		t.Errorf("%+v", w.Network)
	}
	agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
	agenttest.Fake(t, filepath.Join(home, "bin", "claude"), "2.1.330")
	l, err := claude.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
		Dir: dir, StateDir: t.TempDir(), Env: env, BaseURL: "http://127.0.0.1:1/t/s",
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Env map[string]string }
	if err := launch.ReadJSON(l.Args[len(l.Args)-1], &got); err != nil {
		t.Fatal(err)
	}
	if got.Env["NO_PROXY"] != ".corp,127.0.0.1,localhost,::1" || got.Env["no_proxy"] != got.Env["NO_PROXY"] {
		t.Errorf("%v: settings outrank the environment", got.Env)
	}
}
