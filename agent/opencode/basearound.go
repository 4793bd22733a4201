package opencode

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"orchestrator/agent/launch"
	"orchestrator/agent/slim"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

// Surroundings implements thread.Slimmer.
func (*Agent) Surroundings(spec thread.WorldSpec) []thread.BaseWarning {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	folders := slim.Above(spec.Dir)
	files := []string{
		filepath.Join(xdg(env, "XDG_CONFIG_HOME", ".config"), "AGENTS.md"), filepath.Join(env.Home(), ".claude", "CLAUDE.md"),
	}
	var skills []string
	for _, at := range folders {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			files = append(files, filepath.Join(at, name))
		}
	}
	for _, at := range append([]string{env.Home()}, folders...) {
		for _, name := range []string{".opencode/skill", ".opencode/skills", ".claude/skills", ".agents/skills"} {
			skills = append(skills, filepath.Join(at, name))
		}
	}
	servers, from := 0, ""
	paths := slices.Concat(userFiles(env), projectFiles(spec.Dir), filesIn(filepath.Join(env.Home(), ".opencode")))
	for _, path := range paths {
		raw, ok, err := world.Read(path)
		var c struct {
			Instructions []string                   `json:"instructions"`
			MCP          map[string]json.RawMessage `json:"mcp"`
		}
		if err != nil || !ok || json.Unmarshal(launch.StripComments(raw), &c) != nil {
			continue
		}
		for _, name := range c.Instructions {
			if !filepath.IsAbs(name) {
				name = filepath.Join(spec.Dir, name)
			}
			if found, err := filepath.Glob(name); err == nil {
				files = append(files, found...)
			}
		}
		for _, server := range c.MCP {
			if string(members(server)["enabled"]) != "false" {
				servers, from = servers+1, path
			}
		}
	}
	all := slim.LargeFiles(files)
	add := func(do, what string, args ...any) {
		all = append(all, thread.BaseWarning{What: fmt.Sprintf(what, args...), Do: do})
	}
	if n := len(slim.Find("SKILL.md", skills...)); n > slim.ManySkills {
		add("Remove those that you do not use, or deny them in permission.skill.", "%d skills are listed in every request", n)
	}
	if servers > 0 {
		add("Give them to this program, which switches on those that a thread needs: orchestrator mcp.",
			"%s configures MCP servers, %d in all: opencode sends all their tools with every request", from, servers)
	}
	switch {
	case env.Enabled("OPENCODE_EXPERIMENTAL"):
		add("Unset it.", "OPENCODE_EXPERIMENTAL adds tools to every request, about 1,000 tokens")
	case env.Enabled("OPENCODE_ENABLE_EXA"):
		add("Unset it.", "OPENCODE_ENABLE_EXA adds a tool to every request, about 400 tokens")
	}
	return all
}
