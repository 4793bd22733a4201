package gemini_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestFolders: a worktree counts as the folder that it is a copy of, and folders to read open no dialog,
// while the person's own file is only read and a folder that they said nothing of still asks.
func TestFolders(t *testing.T) {
	const read = "/s/threads/a/read"
	for _, tt := range []struct {
		name, trusted, settings string
		env                     []string
		dir, origin             string
		include                 bool
		added                   map[string]string // to the person's own folders; nil for no file of ours
		relaunch                bool              // it may start itself again after a question
	}{
		{name: "trusted", trusted: `{"/p":"TRUST_FOLDER"}`, dir: "/p/sub", include: true,
			added: map[string]string{read: "TRUST_FOLDER"}},
		{name: "by its parent", trusted: `{"/p/x":"TRUST_PARENT"}`, dir: "/p/y", include: true,
			added: map[string]string{read: "TRUST_FOLDER"}},
		{name: "never asked", trusted: `{"/q":"TRUST_FOLDER"}`, dir: "/p", relaunch: true},
		{name: "refused", trusted: `{"/p":"DO_NOT_TRUST"}`, dir: "/p"},
		{name: "refused within", trusted: `{"/p":"TRUST_FOLDER","/p/x":"DO_NOT_TRUST"}`, dir: "/p/x/y"},
		{name: "worktree of a trusted folder", trusted: `{"/p":"TRUST_FOLDER"}`, dir: "/w/1", origin: "/p", include: true,
			added: map[string]string{"/w/1": "TRUST_FOLDER", read: "TRUST_FOLDER"}},
		{name: "worktree of a refused folder", trusted: `{"/p":"DO_NOT_TRUST"}`, dir: "/w/1", origin: "/p",
			added: map[string]string{"/w/1": "DO_NOT_TRUST"}},
		{name: "worktree of a folder never asked", trusted: `{}`, dir: "/w/1", origin: "/p", relaunch: true},
		{name: "worktree with an answer of its own", trusted: `{"/p":"TRUST_FOLDER","/w/1":"DO_NOT_TRUST"}`, dir: "/w/1",
			origin: "/p"},
		{name: "by the environment", env: []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}, dir: "/p", include: true,
			added: map[string]string{read: "TRUST_FOLDER"}},
		{name: "refused by the environment", trusted: `{"/p":"TRUST_FOLDER"}`,
			env: []string{"GEMINI_CLI_TRUST_WORKSPACE=false"}, dir: "/p"},
		{name: "no questions", settings: `{"security":{"folderTrust":{"enabled":false}}}`, dir: "/p", include: true},
		{name: "broken file", trusted: `{"/p":`, dir: "/p", relaunch: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, state := t.TempDir(), t.TempDir()
			agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
			agenttest.Fake(t, filepath.Join(home, "bin", "gemini"), "0.61.0")
			env := append([]string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin")}, tt.env...)
			own := filepath.Join(home, ".gemini", "trustedFolders.json")
			if strings.Contains(tt.name, "worktree") { // a file of the person's in another place
				own = filepath.Join(home, "elsewhere.json")
				env = append(env, "GEMINI_CLI_TRUSTED_FOLDERS_PATH="+own)
			}
			if tt.trusted != "" {
				agenttest.Put(t, own, tt.trusted)
			}
			agenttest.Put(t, filepath.Join(home, ".gemini", "settings.json"), tt.settings)
			before := agenttest.Hash(t, home)
			l, err := gemini.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
				Dir: tt.dir, Origin: tt.origin, StateDir: state, Env: env, ReadDirs: []string{read},
			})
			if err != nil {
				t.Fatal(err)
			}
			if agenttest.Hash(t, home) != before {
				t.Error("the person's files were written to")
			}
			if at := slices.Index(l.Args, "--include-directories"); (at >= 0) != tt.include ||
				tt.include && l.Args[at+1] != read {
				t.Errorf("arguments %q", l.Args)
			}
			e := launch.Env(l.Env)
			ours := filepath.Join(state, "gemini-trusted-folders.json")
			if (e.Value("GEMINI_CLI_TRUSTED_FOLDERS_PATH") == ours) != (tt.added != nil) ||
				(e.Value("GEMINI_CLI_NO_RELAUNCH") == "") != tt.relaunch {
				t.Errorf("environment %q", l.Env)
			}
			if tt.added == nil {
				return
			}
			var got, want map[string]string
			if err := launch.ReadJSON(ours, &got); err != nil {
				t.Fatal(err)
			}
			if err := launch.ReadJSON(own, &want); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = map[string]string{}
			}
			maps.Copy(want, tt.added)
			if !maps.Equal(got, want) {
				t.Errorf("our folders %v, want %v", got, want)
			}
		})
	}
}

// TestPolicy: the shell may print what is named and nothing besides; the person's own policies are read too.
func TestPolicy(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
	agenttest.Fake(t, filepath.Join(home, "bin", "gemini"), "0.61.0")
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin")}
	policies := func(settings string, args ...string) []string {
		t.Helper()
		agenttest.Put(t, filepath.Join(home, ".gemini", "settings.json"), settings)
		l, err := gemini.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
			Dir: home, StateDir: state, Env: env, ReadDirs: []string{"/s.x/read"}, Flags: thread.Flags{Args: args},
		})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for i, a := range l.Args {
			if a == "--policy" {
				all = append(all, l.Args[i+1])
			}
		}
		return all
	}
	ours := filepath.Join(state, "gemini-policy.toml")
	if got := policies(""); !slices.Equal(got, []string{filepath.Join(home, ".gemini", "policies"), ours}) {
		t.Errorf("policies %q", got)
	}
	if got := policies(`{"policyPaths":["/their/p"]}`); !slices.Equal(got, []string{"/their/p", ours}) {
		t.Errorf("policies %q", got)
	}
	if got := policies("", "--policy", "/given"); !slices.Equal(got, []string{ours, "/given"}) {
		t.Errorf("policies %q", got)
	}
	raw, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`commandRegex = "(.*)"\n`).FindStringSubmatch(string(raw))
	if quoted == nil {
		t.Fatalf("no command in %s", raw)
	}
	// Gemini CLI matches against the arguments as JSON, from the command on.
	rule := regexp.MustCompile(`"command":"` + strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(quoted[1]))
	for command, want := range map[string]bool{
		"cat /s.x/read/handoff-1/turn-2-1.txt": true, "cat /s.x/read/primer.md": true,
		"cat /s.x/read/../../secret": false, "cat /s.x/read/a; touch x": false, "cat /s.x/read/a > b": false,
		"cat /s.x/read/$(id)":         false,
		"cat /s.x/read/a /etc/passwd": false, "cat /sax/read/primer.md": false, "cat /s.x/readme": false,
		"touch /s.x/read/a": false,
		"cat /s.x/read/..":  false, "cat /s.x/read/a/../..": false,
	} {
		if got := rule.MatchString(`{"command":"` + command + `","description":"print it"}`); got != want {
			t.Errorf("%q is allowed: %v", command, got)
		}
	}
}
