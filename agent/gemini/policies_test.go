package gemini_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestPoliciesStay starts with tools left out, for which a policy of ours is named: all policies of the person's tier that
// would be in force without it are named before it, those of a folder only if it is trusted.
func TestPoliciesStay(t *testing.T) {
	for _, tt := range []struct {
		name, theirs, folder, trust string
		args                        []string
		want                        string // ROOT is the home, WORK the folder
	}{
		{name: "none", want: "ROOT/.gemini/policies"},
		{name: "theirs", theirs: `["/etc/strict.toml","~/rules"]`, want: "/etc/strict.toml ROOT/rules"},
		{name: "a trusted folder's", folder: `["WORK/deny.toml"]`, trust: "TRUST_FOLDER", want: "WORK/deny.toml"},
		{name: "both", theirs: `["/etc/strict.toml"]`, folder: `["WORK/deny.toml","/etc/strict.toml"]`, trust: "TRUST_FOLDER",
			want: "/etc/strict.toml WORK/deny.toml"},
		{name: "a folder's that is not trusted", theirs: `["/etc/strict.toml"]`, folder: `["WORK/allow.toml"]`, trust: "DO_NOT_TRUST",
			want: "/etc/strict.toml"},
		{name: "a folder's that nobody decided about", folder: `["WORK/allow.toml"]`, want: "ROOT/.gemini/policies"},
		{name: "an argument", theirs: `["/etc/strict.toml"]`, args: []string{"--policy", "mine.toml"}, want: "mine.toml"},
		{name: "odd types", theirs: `7`, want: "ROOT/.gemini/policies"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			home, dir := filepath.Join(root, "home"), filepath.Join(root, "work")
			fill := strings.NewReplacer("ROOT", home, "WORK", dir)
			agenttest.Put(t, filepath.Join(dir, ".git", "HEAD"), "")
			agenttest.Put(t, filepath.Join(home, "bin", "none"), "")
			agenttest.Fake(t, filepath.Join(home, "bin", "gemini"), "0.61.0")
			for path, paths := range map[string]string{home: tt.theirs, dir: tt.folder} {
				if paths != "" {
					agenttest.Put(t, filepath.Join(path, ".gemini", "settings.json"), fill.Replace(`{"policyPaths":`+paths+`}`))
				}
			}
			if tt.trust != "" {
				agenttest.Put(t, filepath.Join(home, ".gemini", "trustedFolders.json"), fill.Replace(`{"WORK":"`+tt.trust+`"}`))
			}
			env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin"}
			l, err := gemini.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
				Thread: "t", Dir: dir, StateDir: filepath.Join(root, "state"), Env: env, Base: []string{"todo-list"},
				Flags: thread.Flags{Args: tt.args},
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, arg := range l.Args {
				if arg == "--policy" && l.Args[i+1] != filepath.Join(root, "state", "gemini-policy.toml") {
					got = append(got, l.Args[i+1])
				}
			}
			if want := strings.Fields(fill.Replace(tt.want)); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if !slices.Contains(l.Args, filepath.Join(root, "state", "gemini-policy.toml")) {
				t.Errorf("ours is not loaded: %q", l.Args)
			}
		})
	}
}
