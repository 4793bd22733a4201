package discovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/discovery"
)

// places writes files below a home and a project folder: "~/x" and "x".
func places(t *testing.T, files map[string]string) discovery.Places {
	t.Helper()
	p := discovery.Places{Project: t.TempDir(), Home: t.TempDir()}
	for name, content := range files {
		content = strings.ReplaceAll(content, "$P", p.Project)
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			write(t, filepath.Join(p.Home, below), content)
		} else {
			write(t, filepath.Join(p.Project, name), content)
		}
	}
	return p
}

// summary is a line for each server: ID, what it starts, whether it is enabled, and its sources.
func summary(found discovery.Found) []string {
	var out []string
	for _, d := range found.Definitions {
		var from []string
		for _, s := range d.Sources {
			from = append(from, fmt.Sprintf("%s/%s", s.Agent, s.Scope))
		}
		on := "off"
		if d.Enabled {
			on = "on"
		}
		out = append(out, strings.Join([]string{d.ID, d.Command + d.URL, on, strings.Join(from, "+")}, " "))
	}
	return out
}

func TestMerge(t *testing.T) {
	const servers = `{"mcpServers": {%s}}`
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"one server in many files": {map[string]string{
			".mcp.json":               fmt.Sprintf(servers, `"a": {"command": "x", "args": ["y"], "taskPatterns": ["p"]}`),
			".cursor/mcp.json":        fmt.Sprintf(servers, `"a": {"command": "x", "args": ["y"]}`),
			"~/.codex/config.toml":    "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"y\"]",
			"~/.gemini/settings.json": fmt.Sprintf(servers, `"a": {"command": "x", "args": ["y"]}`),
		}, []string{"a x on codex/user+gemini/user+claude/project+cursor/project"}},
		"a repository takes no name": {map[string]string{
			".mcp.json":            fmt.Sprintf(servers, `"a": {"command": "evil"}, "b": {"command": "b"}`),
			".cursor/mcp.json":     fmt.Sprintf(servers, `"a": {"command": "worse"}`),
			".vscode/mcp.json":     `{"servers": {"a": {"command": "worst"}, "a-project": {"command": "p"}}}`,
			"~/.claude.json":       fmt.Sprintf(servers, `"a": {"command": "mine"}`),
			"~/.cursor/mcp.json":   fmt.Sprintf(servers, `"a": {"command": "also mine"}, "a-project": {"command": "mine"}`),
			"~/.codex/config.toml": "mcp_servers.a.command = \"codex\"",
		}, []string{"a mine on claude/user", "a-codex codex on codex/user", "a-cursor also mine on cursor/user",
			"a-project mine on cursor/user", "a-project-claude evil on claude/project", "a-project-cursor worse on cursor/project",
			"a-project-project p on vscode/project", "a-project-vscode worst on vscode/project", "b b on claude/project"}},
		"precedence": {map[string]string{
			"~/.claude.json":                  `{"mcpServers": {"a": {"command": "user"}}, "projects": {"$P": {"mcpServers": {"a": {"command": "local"}}}}}`,
			".mcp.json":                       fmt.Sprintf(servers, `"a": {"command": "project"}`),
			"~/.config/orchestrator/mcp.json": fmt.Sprintf(servers, `"a": {"command": "ours"}`),
		}, []string{"a ours on orchestrator/user", "a-claude local on claude/local", "a-claude-2 user on claude/user",
			"a-project project on claude/project"}},
		"reserved": {map[string]string{
			".mcp.json":      fmt.Sprintf(servers, `"orch": {"command": "x"}`),
			"~/.claude.json": fmt.Sprintf(servers, `"Orch": {"command": "y"}`),
		}, []string{"Orch-claude y on claude/user", "orch-project x on claude/project"}},
		"names": {map[string]string{
			".mcp.json": fmt.Sprintf(servers, `"a b": {"command": "1"}, "a__b": {"command": "2"}, "": {"command": "3"}, "../é": {"command": "4"},
"A_B": {"command": "5"}, "`+strings.Repeat("n", 80)+`": {"command": "6"}, "`+strings.Repeat("n", 90)+`": {"command": "7"}, "-._x_": {"command": "8"}`),
			"~/.claude.json": fmt.Sprintf(servers, `"a_b": {"command": "own"}`),
		}, []string{"A_B-project 5 on claude/project", "a_b own on claude/user",
			"a_b-project-claude 1 on claude/project", "a_b-project-claude-2 2 on claude/project",
			strings.Repeat("n", 56) + "-project 7 on claude/project", strings.Repeat("n", 64) + " 6 on claude/project",
			"server 3 on claude/project", "server-project 4 on claude/project", "x 8 on claude/project"}},
		"toggles": {map[string]string{
			"~/.config/opencode/opencode.json": `{"mcp": {"a": {"type": "local", "command": ["x"]}, "b": {"type": "local", "command": ["y"], "enabled": false}}}`,
			"opencode.json":                    `{"mcp": {"a": {"enabled": false}, "b": {"enabled": true}, "c": {"enabled": true}}}`,
			"~/.codex/config.toml":             "mcp_servers.a.command = \"z\"",
		}, []string{"a z on codex/user", "a-opencode x off opencode/user", "b y off opencode/user"}},
		"Claude's lists": {map[string]string{
			".mcp.json":      fmt.Sprintf(servers, `"a": {"command": "1"}, "b": {"command": "2"}`),
			"~/.claude.json": `{"projects": {"$P/": {"disabledMcpjsonServers": ["a"], "disabledMcpServers": ["b"]}}}`,
		}, []string{"a 1 off claude/project", "b 2 on claude/project"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := places(t, c.files)
			found := p.Definitions()
			if got := summary(found); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			for range 5 {
				if again := p.Definitions(); !slices.Equal(summary(again), summary(found)) {
					t.Errorf("another order: %q", summary(again))
				}
			}
		})
	}
}

// TestRepositoryChangesNoID: whatever a repository configures, the person's servers keep their IDs.
func TestRepositoryChangesNoID(t *testing.T) {
	own := map[string]string{
		"~/.claude.json":       `{"mcpServers": {"a": {"command": "1"}, "a b": {"command": "2"}, "orch": {"command": "3"}}}`,
		"~/.codex/config.toml": "[mcp_servers.a]\ncommand = \"4\"",
	}
	before := summary(places(t, own).Definitions())
	own[".mcp.json"] = `{"mcpServers": {"a": {"command": "e"}, "a_b": {"command": "e"}, "a-codex": {"command": "e"}, "orch-claude": {"command": "e"}}}`
	after := summary(places(t, own).Definitions())
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("%q is gone: %q", line, after)
		}
	}
	if len(after) != len(before)+4 {
		t.Errorf("got %q", after)
	}
}

func TestOverlay(t *testing.T) {
	p := places(t, map[string]string{
		".mcp.json": `{"mcpServers": {"a": {"command": "x", "taskPatterns": ["repository"],
"x-orchestrator": {"idleStop": "1m", "stageChars": 5}}, "b": {"command": "y"}}}`,
		"~/.config/orchestrator/mcp.json": `{"mcpServers": {"a": {"taskPatterns": ["mine"], "x-orchestrator": {"idleStop": "2m", "share": "project"}},
"b": {"enabled": false}}}`,
	})
	found := p.Definitions()
	a, b := found.Definitions[0], found.Definitions[1]
	if len(found.Problems) != 0 || !slices.Equal(a.Patterns, []string{"mine"}) || a.Options.IdleStop != 2*time.Minute ||
		a.Options.Share != definition.ByProject || a.Options.StageChars != 5 {
		t.Errorf("got %+v, %v", a, found.Problems)
	}
	if a.Trusted() || a.Sources[0].Agent != "claude" {
		t.Errorf("options make a server of the repository trusted: %+v", a.Sources)
	}
	if b.Enabled {
		t.Error("it is still enabled")
	}
}

// TestOwnFiles lists the person's files, also missing ones, and none of the repository.
func TestOwnFiles(t *testing.T) {
	p := places(t, map[string]string{".mcp.json": "{}"})
	p.OpenCodeConfig = filepath.Join(p.Home, "one-more.json")
	own := p.Definitions().Own
	for _, want := range []string{p.Home + "/.claude.json", p.Home + "/.codex/config.toml", p.Home + "/.gemini/settings.json",
		p.Home + "/.config/opencode/opencode.json", p.Home + "/.cursor/mcp.json", p.Home + "/.config/orchestrator/mcp.json",
		p.OpenCodeConfig} {
		if !slices.Contains(own, want) {
			t.Errorf("%s is missing in %q", want, own)
		}
	}
	if slices.Contains(own, p.Project+"/.mcp.json") {
		t.Error("the repository's file is the person's")
	}
	p = discovery.Places{Home: p.Home, Claude: "/c", Codex: "/x", Gemini: "/g", OpenCode: "/o", Config: "/f"}
	own = p.Definitions().Own
	for _, want := range []string{"/c/.claude.json", "/x/config.toml", "/g/.gemini/settings.json", "/o/opencode.json", "/f/mcp.json"} {
		if !slices.Contains(own, want) {
			t.Errorf("%s is missing in %q", want, own)
		}
	}
}

// TestOwnFolderInTheRepository: a folder of an agent that is in the repository is not the person's.
func TestOwnFolderInTheRepository(t *testing.T) {
	p := places(t, map[string]string{".codex/config.toml": "mcp_servers.a.command = \"x\"",
		"~/.cursor/mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`})
	p.Codex = filepath.Join(p.Project, ".codex")
	found := p.Definitions()
	if got := summary(found); !slices.Equal(got, []string{"a x on cursor/user+codex/project"}) {
		t.Errorf("got %q", got)
	}
	if slices.Contains(found.Own, p.Project+"/.codex/config.toml") {
		t.Error("it is listed as the person's")
	}
	p = discovery.Places{Project: p.Project, Home: p.Project} // an agent that works in the home folder writes there
	if got := summary(p.Definitions()); !slices.Equal(got, []string{"a x on codex/project"}) {
		t.Errorf("at home: %q", got)
	}
}

// TestOwnOrForeign: what lies in the project or where agents work is the repository's, however its path is written.
func TestOwnOrForeign(t *testing.T) {
	const codex, claude = "[mcp_servers.a]\ncommand = \"x\"\n", `{"mcpServers": {"a": {"command": "x"}}, "projects": {"$P": {"mcpServers": {"b": {"command": "y"}}}}}`
	link := func(t *testing.T, to, at string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, of := range map[string]func(t *testing.T, p *discovery.Places, worktree string){
		"relative Codex": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/conf/config.toml", codex)
			p.Codex = "conf"
		},
		"relative Claude": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/.claude.json", strings.ReplaceAll(claude, "$P", p.Project))
			p.Claude = "."
		},
		"relative Gemini": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/g/.gemini/settings.json", claude)
			p.Gemini = "./g"
		},
		"relative file of OpenCode": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/oc.json", `{"mcp": {"a": {"type": "local", "command": ["x"]}}}`)
			p.OpenCodeConfig = "oc.json"
		},
		"linked folder": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/dot/codex/config.toml", codex)
			link(t, p.Project+"/dot/codex", p.Home+"/.codex")
		},
		"linked file": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/cursor.json", claude)
			link(t, p.Project+"/cursor.json", p.Home+"/.cursor/mcp.json")
		},
		"links in a row": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/dot/claude.json", claude)
			link(t, p.Project+"/dot/claude.json", p.Home+"/one")
			link(t, p.Home+"/one", p.Home+"/.claude.json")
		},
		"project by a link": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/.dot/config.toml", codex)
			p.Codex = p.Project + "/.dot"
			link(t, p.Project, p.Home+"/way")
			p.Project = p.Home + "/way"
		},
		"worktree": func(t *testing.T, p *discovery.Places, worktree string) {
			write(t, worktree+"/.codex/config.toml", codex)
			p.Codex = worktree + "/.codex"
		},
		"linked worktree": func(t *testing.T, p *discovery.Places, worktree string) {
			write(t, worktree+"/mcp.json", claude)
			link(t, worktree+"/mcp.json", p.Home+"/.config/orchestrator/mcp.json")
		},
		"home in the project": func(t *testing.T, p *discovery.Places, _ string) {
			p.Home = p.Project + "/home"
			write(t, p.Home+"/.codex/config.toml", codex)
		},
		"dots": func(t *testing.T, p *discovery.Places, _ string) {
			write(t, p.Project+"/c/config.toml", codex)
			p.Codex = p.Home + "/../" + filepath.Base(filepath.Dir(p.Project)) + "/" + filepath.Base(p.Project) + "/c"
			if filepath.Dir(p.Home) != filepath.Dir(filepath.Dir(p.Project)) {
				p.Codex = p.Project + "/x/../c"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, worktrees := places(t, nil), t.TempDir()
			p.Agents = []string{worktrees}
			of(t, &p, filepath.Join(worktrees, "t"))
			found := p.Definitions()
			if len(found.Definitions) == 0 {
				t.Fatalf("nothing is found: %+v", found)
			}
			for _, d := range found.Definitions {
				if d.Trusted() {
					t.Errorf("%s counts as the person's: %+v", d.Name, d.Sources)
				}
			}
		})
	}
	p := places(t, nil) // and the person's own by a link to elsewhere stays theirs
	dot := t.TempDir()
	write(t, dot+"/codex/config.toml", codex)
	link(t, dot+"/codex", p.Home+"/.codex")
	if found := p.Definitions(); len(found.Definitions) != 1 || !found.Definitions[0].Trusted() {
		t.Errorf("%+v", found)
	}
}

// TestProjectByALink: Claude's file knows the project by the path that links lead to.
func TestProjectByALink(t *testing.T) {
	p := places(t, nil)
	write(t, p.Home+"/.claude.json", `{"projects": {`+quote(p.Project)+`: {"mcpServers": {"a": {"command": "x"}}}}}`)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.Project, link); err != nil {
		t.Fatal(err)
	}
	p.Project = link
	if got := summary(p.Definitions()); !slices.Equal(got, []string{"a x on claude/local"}) {
		t.Errorf("got %q", got)
	}
}

// TestReadsOnly: nothing is started, written or expanded, and a variable in a path is not followed to a file.
func TestReadsOnly(t *testing.T) {
	p := places(t, map[string]string{
		".mcp.json": `{"mcpServers": {"a": {"command": "./canary.sh", "env": {"K": "${SECRET}"}, "headersHelper": "./canary.sh"},
"b": {"url": "http://127.0.0.1:1/", "headersHelper": "./canary.sh"}}}`,
		"canary.sh": "#!/bin/sh\ntouch '$P/ran'\n",
	})
	if err := os.Chmod(p.Project+"/canary.sh", 0o700); err != nil {
		t.Fatal(err)
	}
	p.Lookup = func(string) (string, bool) { return "CANARY", true }
	found := p.Definitions()
	if text := fmt.Sprintf("%+v", found); strings.Contains(text, "CANARY") || !strings.Contains(text, "${SECRET}") {
		t.Errorf("expanded: %s", text)
	}
	entries, err := os.ReadDir(p.Project)
	if err != nil || len(entries) != 2 {
		t.Errorf("files: %v, %v", entries, err)
	}
	if home, err := os.ReadDir(p.Home); err != nil || len(home) != 0 {
		t.Errorf("files: %v, %v", home, err)
	}
}
