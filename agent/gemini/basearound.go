package gemini

import (
	"fmt"
	"path/filepath"

	"orchestrator/agent/launch"
	"orchestrator/agent/slim"
	"orchestrator/thread"
)

// Surroundings implements thread.Slimmer.
func (*Agent) Surroundings(spec thread.WorldSpec) []thread.BaseWarning {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	own := wishesIn(spec, slim.Everywhere)
	var files, skills []string
	servers, from := 0, ""
	var all []thread.BaseWarning
	memory := []string{"GEMINI.md"}
	for _, l := range own.layers {
		context, _ := l.all["context"].(map[string]any)
		if name, ok := context["fileName"].(string); ok {
			memory = []string{name}
		} else if list := names(context["fileName"]); len(list) > 0 {
			memory = list
		}
		if here, _ := l.all["mcpServers"].(map[string]any); len(here) > 0 {
			servers, from = servers+len(here), l.from
		}
		experimental, _ := l.all["experimental"].(map[string]any)
		if experimental["taskTracker"] == true {
			all = append(all, thread.BaseWarning{
				What: l.from + " sets experimental.taskTracker, whose tools and rules are in every request", Do: "Set it to false.",
			})
		}
	}
	folders := slim.Above(spec.Dir)
	for _, name := range memory {
		for _, at := range append([]string{home(env)}, folders...) {
			files = append(files, filepath.Join(at, name))
		}
	}
	all = append(slim.LargeFiles(files), all...)
	for _, at := range append([]string{filepath.Dir(home(env))}, folders...) {
		skills = append(skills, filepath.Join(at, ".gemini", "skills"), filepath.Join(at, ".agents", "skills"))
	}
	if n := len(slim.Find("SKILL.md", skills...)); n > slim.ManySkills {
		all = append(all, thread.BaseWarning{
			What: fmt.Sprintf("%d skills are listed in every request", n), Do: "Remove those that you do not use, or name them in skills.disabled.",
		})
	}
	if servers > 0 {
		all = append(all, thread.BaseWarning{
			What: fmt.Sprintf("%s configures MCP servers, %d in all: Gemini CLI sends all their tools with every request", from, servers),
			Do:   "Give them to this program, which switches on those that a thread needs: orchestrator mcp.",
		})
	}
	return all
}
