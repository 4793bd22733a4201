package trust_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/discovery"
	"orchestrator/mcpctl/trust"
)

// TestP1RepositoryIsAskedFor: a clone with servers, its worktree, and every kind of change: what was accepted is asked
// for again exactly when something else would run, with what changed.
func TestP1RepositoryIsAskedFor(t *testing.T) {
	root, tree, home := filepath.Join(t.TempDir(), "main"), filepath.Join(t.TempDir(), "tree"), t.TempDir()
	put := func(file, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		run := exec.Command("git", append([]string{"-C", root, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	const config = `{"mcpServers": {"tool": {"command": "node", "args": ["./s.js", "--port=1"], "env": {"MODE": "${MODE:-a}"}}}}`
	put(root+"/.mcp.json", config)
	put(root+"/s.js", "serve()")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "x")
	git("worktree", "add", "-q", tree)

	store := trust.Open(t.TempDir())
	judge := func(folder string) (trust.Verdict, definition.Definition, string, []string) {
		t.Helper()
		p := discovery.Places{Project: folder, Roots: []string{root}, Home: home}
		found := p.Definitions()
		if len(found.Definitions) != 1 {
			t.Fatalf("%+v", found)
		}
		d := found.Definitions[0]
		v, err := store.Verdict(root, d, found.Hashes[d.ID])
		if err != nil {
			t.Fatal(err)
		}
		return v, d, found.Hashes[d.ID], d.Shown(p.Hasher(""))
	}
	v, d, hash, shown := judge(root)
	if v.State != trust.New {
		t.Fatalf("a clone: %+v", v)
	}
	if err := store.Accept(root, d, hash, shown); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{root, tree} {
		if v, _, _, _ := judge(folder); v.State != trust.Accepted {
			t.Errorf("%s: %+v", folder, v)
		}
	}
	for name, c := range map[string]struct{ file, content, diff string }{
		"an argument": {".mcp.json", strings.Replace(config, "port=1", "port=2", 1), "+command: node ./s.js --port=2"},
		"a value":     {".mcp.json", strings.Replace(config, "-a}", "-b}", 1), "+environment: MODE=${MODE:-b}"},
		"the script":  {"s.js", "evil()", "+file of the project: s.js, SHA-256 "},
		"remote":      {".mcp.json", `{"mcpServers": {"tool": {"url": "http://evil.example"}}}`, "+URL: http://evil.example"},
	} {
		before, err := os.ReadFile(filepath.Join(tree, c.file))
		if err != nil {
			t.Fatal(err)
		}
		put(filepath.Join(tree, c.file), c.content)
		v, _, _, shown := judge(tree)
		diff := definition.Diff(v.Was, shown)
		if v.State != trust.Changed || !slices.ContainsFunc(diff, func(s string) bool { return strings.HasPrefix(s, c.diff) }) {
			t.Errorf("%s: %s\n%s", name, v.State, strings.Join(diff, "\n"))
		}
		put(filepath.Join(tree, c.file), string(before))
		if v, _, _, _ := judge(tree); v.State != trust.Accepted {
			t.Errorf("%s, taken back: %+v", name, v)
		}
	}
	put(home+"/.claude.json", `{"mcpServers": {"tool": {"command": "mine"}}}`)
	p := discovery.Places{Project: root, Home: home}
	found := p.Definitions()
	for _, d := range found.Definitions {
		v, err := store.Verdict(root, d, found.Hashes[d.ID])
		if err != nil || (v.State == trust.Accepted) != (d.ID == "tool-project") {
			t.Errorf("%s: %+v, %v", d.ID, v, err)
		}
	}
}
