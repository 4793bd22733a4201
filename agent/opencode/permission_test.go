package opencode_test

import (
	"path/filepath"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

// TestReadDirs: folders to read are added to the permissions that the person has, in their order.
func TestReadDirs(t *testing.T) {
	const (
		allow = `"/s/threads/a/read/*":"allow"`
		deny  = `"*threads/a/read/*":"deny"`
	)
	for _, tt := range []struct{ name, global, project, content, permission, want string }{
		{"nothing", "", "", "", "", `{"external_directory":{` + allow + `},"edit":{` + deny + `}}`},
		{"words of the person's", `{"permission":{"edit":"ask","external_directory":"deny","bash":"ask"}}`, "", "", "",
			`{"external_directory":{"*":"deny",` + allow + `},"edit":{"*":"ask",` + deny + `}}`},
		{"words of the project", `{"permission":{"edit":"allow"}}`, `{"permission":{"edit":"deny"}}`, "", "",
			`{"external_directory":{` + allow + `},"edit":{"*":"deny",` + deny + `}}`},
		{"a table after a word", `{"permission":{"edit":"ask"}}`, `{"permission":{"edit":{"a":"deny"}}}`, "", "",
			`{"external_directory":{` + allow + `},"edit":{` + deny + `}}`},
		{"words of the environment", `{"permission":{"edit":"allow"}}`, "", `{"permission":{"edit":"ask",},}`, "",
			`{"external_directory":{` + allow + `},"edit":{"*":"ask",` + deny + `}}`},
		{"rules of the environment, in order", "", "", "",
			`{"edit":{"z":"deny","*":"ask","a":"allow"},"bash":"ask","*":"deny"}`,
			`{"bash":"ask","*":"deny","external_directory":{` + allow + `},"edit":{"z":"deny","*":"ask","a":"allow",` +
				deny + `}}`},
		{"a word of the environment", `{"permission":{"edit":"allow"}}`, "", "", `{"edit":"deny"}`,
			`{"external_directory":{` + allow + `},"edit":{"*":"deny",` + deny + `}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, dir := t.TempDir(), t.TempDir()
			agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
			agenttest.Fake(t, filepath.Join(home, "bin", "opencode"), "1.18.33")
			agenttest.Put(t, filepath.Join(dir, ".git", "HEAD"), "")
			if tt.global != "" {
				agenttest.Put(t, filepath.Join(home, ".config", "opencode", "opencode.json"), tt.global)
			}
			if tt.project != "" {
				agenttest.Put(t, filepath.Join(dir, "opencode.json"), tt.project)
			}
			agenttest.Put(t, filepath.Join(dir, "sub", "x"), "")
			env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin"), "OPENCODE_CONFIG_CONTENT=" + tt.content,
				"OPENCODE_PERMISSION=" + tt.permission}
			spec := thread.LaunchSpec{Dir: filepath.Join(dir, "sub"), StateDir: home, Env: env,
				ReadDirs: []string{"/s/threads/a/read"}}
			l, err := opencode.New(launch.Config{Env: env}).Launch(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := launch.Env(l.Env).Value("OPENCODE_PERMISSION"); got != tt.want {
				t.Errorf("permissions\n%s, want\n%s", got, tt.want)
			}
			if got := launch.Env(l.Env).Value("OPENCODE_CONFIG_CONTENT"); got != tt.content {
				t.Errorf("the person's configuration became %s", got)
			}
		})
	}
}
