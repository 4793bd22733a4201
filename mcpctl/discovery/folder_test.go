package discovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFolders finds for a folder what each CLI finds there, as seen with the real ones: Claude Code and Codex go up to
// the project and take the nearest of a name, Gemini reads the folder alone, OpenCode goes up too, and of its .opencode
// folders takes the highest.
func TestFolders(t *testing.T) {
	files := map[string]string{}
	for dir, name := range map[string]string{"": "root", "a/": "a", "a/b/": "b", "other/": "other"} {
		object := fmt.Sprintf(`"%[1]s": {"command": "%[1]s"}, "same": {"command": "%[1]s"}`, "c-"+name)
		files[dir+".mcp.json"] = `{"mcpServers": {` + object + `}}`
		files[dir+".gemini/settings.json"] = strings.ReplaceAll(`{"mcpServers": {`+object+`}}`, "c-", "g-")
		files[dir+".codex/config.toml"] = fmt.Sprintf("mcp_servers.x-%[1]s.command = \"x-%[1]s\"\nmcp_servers.same.command = \"x-%[1]s\"\n", name)
		files[dir+"opencode.json"] = fmt.Sprintf(`{"mcp": {"o-%[1]s": {"type": "local", "command": ["o-%[1]s"]}, "plain": {"type": "local", "command": ["o-%[1]s"]}}}`, name)
		files[dir+".opencode/opencode.json"] = fmt.Sprintf(`{"mcp": {"d-%[1]s": {"type": "local", "command": ["d-%[1]s"]}, "dot": {"type": "local", "command": ["d-%[1]s"]}}}`, name)
	}
	p := places(t, files)
	for folder, want := range map[string][]string{
		"":      {"c-root", "g-root", "o-root", "d-root", "x-root", "same=c-root", "same=x-root", "same=g-root", "plain=o-root", "dot=d-root"},
		"a":     {"c-root", "c-a", "g-a", "o-root", "o-a", "d-root", "d-a", "x-root", "x-a", "same=c-a", "same=x-a", "same=g-a", "plain=o-a", "dot=d-root"},
		"a/b":   {"c-root", "c-a", "c-b", "g-b", "o-root", "o-a", "o-b", "d-root", "d-a", "d-b", "x-root", "x-a", "x-b", "same=c-b", "same=x-b", "same=g-b", "plain=o-b", "dot=d-root"},
		"empty": {"c-root", "o-root", "d-root", "x-root", "same=c-root", "same=x-root", "plain=o-root", "dot=d-root"},
	} {
		var got []string
		for _, d := range p.In(filepath.Join(p.Project, folder)).Definitions().Definitions {
			if d.Name == d.Command {
				got = append(got, d.Name)
			} else {
				got = append(got, d.Name+"="+d.Command)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", folder, got, want)
		}
	}
}

// TestFoldersOfWorktrees finds for a folder of a worktree what the project has in the same one, and for one elsewhere what
// the project itself has.
func TestFoldersOfWorktrees(t *testing.T) {
	p := places(t, map[string]string{
		".mcp.json": `{"mcpServers": {"root": {"command": "x"}}}`, "a/b/.mcp.json": `{"mcpServers": {"b": {"command": "y", "cwd": "w"}}}`,
	})
	worktree := t.TempDir()
	write(t, filepath.Join(worktree, ".git"), "gitdir: elsewhere\n")
	if err := os.MkdirAll(filepath.Join(worktree, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		worktree: "root", filepath.Join(worktree, "a"): "root", filepath.Join(worktree, "a/b"): "b root",
		filepath.Join(p.Project, "a/b"): "b root", p.Project: "root", "": "root", t.TempDir(): "root", filepath.Dir(p.Project): "root",
		filepath.Join(p.Project, "a/b/c/d"): "b root",
	} {
		var got []string
		for _, d := range p.In(dir).Definitions().Definitions {
			got = append(got, d.Name)
			if d.Name == "b" && d.Dir != filepath.Join(p.Project, "a/b/w") {
				t.Errorf("%s: b is started in %s", dir, d.Dir)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
}
