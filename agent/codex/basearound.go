package codex

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
	above := slim.Above(spec.Dir)
	var files, skills []string
	for _, name := range []string{"AGENTS.override.md", "AGENTS.md"} {
		for _, at := range append([]string{home(env)}, above...) {
			files = append(files, filepath.Join(at, name))
		}
	}
	for _, at := range append([]string{env.Home()}, above...) {
		skills = append(skills, filepath.Join(at, ".agents", "skills"), filepath.Join(at, ".codex", "skills"))
	}
	all := slim.LargeFiles(files)
	if n := len(slim.Find("SKILL.md", skills...)); n > slim.ManySkills {
		all = append(all, thread.BaseWarning{
			What: fmt.Sprintf("%d skills are listed in every request", n), Do: "Remove those that you do not use.",
		})
	}
	own := wishesIn(spec, slim.Everywhere)
	for _, w := range []struct{ name, what string }{
		{"features.memories", "puts what it has learned of you into every request"},
		{"features.code_mode", "describes all tools, of MCP servers too, in every request"},
		{"features.model_catalog_in_context", "lists all models in every request"},
	} {
		if from, on := own.on(w.name); on {
			all = append(all, thread.BaseWarning{What: from + " sets " + w.name + ", which " + w.what, Do: "Set it to false."})
		}
	}
	return all
}

// on reports whether something is switched on, and where.
func (w wishes) on(name string) (from string, on bool) {
	for _, l := range w.layers {
		if v, ok := at(l.all, name); ok {
			from, on = l.from, v == true
		}
	}
	return from, on
}
