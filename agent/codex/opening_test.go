package codex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/launch"
)

// TestOpening: what the TUI takes as arguments becomes fields; what app-server does not know either, it refuses itself.
func TestOpening(t *testing.T) {
	for args, c := range map[string]struct {
		want opening
		rest string
	}{
		"":                                    {opening{dir: "/w", model: "m"}, ""},
		"-m x -s read-only -a never":          {opening{dir: "/w", model: "x", sandbox: "read-only", approval: "never"}, ""},
		"--model=x --sandbox=workspace-write": {opening{dir: "/w", model: "x", sandbox: "workspace-write"}, ""},
		"-s read-only --yolo":                 {opening{dir: "/w", model: "m", sandbox: "danger-full-access", approval: "never"}, ""},
		"--approve-for-me": {opening{dir: "/w", model: "m", sandbox: "workspace-write", approval: "on-request",
			reviewer: "auto_review"}, ""},
		"-C sub":                             {opening{dir: "/w/sub", model: "m"}, ""},
		"-c a=1 --config=b=2 --enable x":     {opening{dir: "/w", model: "m"}, "-c a=1 --config=b=2 --enable x"},
		"--search --no-alt-screen":           {opening{dir: "/w", model: "m"}, `-c web_search="live"`},
		"--oss --local-provider ollama -m q": {opening{dir: "/w", model: "q"}, `-c model_provider="ollama"`},
		"--profile work -m":                  {opening{dir: "/w", model: "m"}, "--profile work -m"},
	} {
		o := opening{dir: "/w", model: "m"}
		rest := o.take(strings.Fields(args))
		if o != c.want || !slices.Equal(rest, strings.Fields(c.rest)) {
			t.Errorf("%s: %+v %q, want %+v %q", args, o, rest, c.want, c.rest)
		}
	}
}

// TestTrust: what the person has said of a folder holds for its worktrees and copies, and the nearest word counts.
func TestTrust(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main, sub, tree, other := filepath.Join(root, "main"), filepath.Join(root, "main", "sub"), filepath.Join(root, "tree"), filepath.Join(root, "other")
	for _, dir := range []string{filepath.Join(main, ".git", "worktrees", "tree"), sub, tree, other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(tree, ".git"):                                   "gitdir: " + filepath.Join(main, ".git", "worktrees", "tree") + "\n",
		filepath.Join(main, ".git", "worktrees", "tree", "commondir"): "../..\n",
		filepath.Join(root, "home", ".codex", "config.toml"):          "[projects.\"" + main + "\"]\ntrust_level = \"trusted\"\n[projects.\"" + sub + "\"]\ntrust_level = \"untrusted\"\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := readConfig(launch.Env{"HOME=" + filepath.Join(root, "home")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const trusted = "trusted"
	for _, tt := range []struct{ dir, origin, want string }{
		{main, "", trusted}, {sub, "", untrusted}, {tree, "", trusted}, {other, "", ""}, {other, main, trusted}, {other, sub, untrusted},
	} {
		if got := c.trust(tt.dir, tt.origin); got != tt.want {
			t.Errorf("%s, a copy of %q: %q, want %q", tt.dir, tt.origin, got, tt.want)
		}
	}
}
